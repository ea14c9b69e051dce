"""What a stampede does: who wants what, and how often he says so."""

from dataclasses import dataclass
from functools import cached_property

#: The negative control: read, decide, write.
NONE = "none"


@dataclass(frozen=True, slots=True)
class Wish:
    """One request of one buyer for one unit; sent several times, it stays one request."""

    buyer: str
    request_id: str
    product: str


@dataclass(frozen=True)
class Plan:
    """The size of a stampede. `stock` is the units of each product; each buyer wants one unit of one product."""

    run: str
    buyers: int
    stock: int
    repeats: int
    concurrency: int
    products: int
    admission: str

    @property
    def units(self) -> int:
        """Give the units of all products."""
        return self.stock * self.products

    @cached_property
    def skus(self) -> list[str]:
        """Name the products; they are new in each run."""
        return [f"stampede-{self.run}-{number}" for number in range(1, self.products + 1)]

    @cached_property
    def wishes(self) -> list[Wish]:
        """Give each buyer his wish; buyers spread evenly over the products."""
        return [
            Wish(f"{self.run}-buyer-{number}", f"{self.run}-{number}", self.skus[number % self.products])
            for number in range(self.buyers)
        ]
