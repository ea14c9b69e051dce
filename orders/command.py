"""What a buyer asks for: a command, and the fingerprint that tells a repeat from another request."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b

FINGERPRINT_VERSION = "v1"
FINGERPRINT_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Line:
    """Units wanted of one product."""

    sku: str
    quantity: int


@dataclass(frozen=True, slots=True)
class PlaceOrder:
    """One request to place an order; `lines` are added up by product and sorted by sku."""

    buyer: str
    request_id: str
    lines: tuple[Line, ...]
    expected_total: Decimal | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Identify the request: a request_id belongs to its buyer."""
        return (self.buyer, self.request_id)

    @property
    def fingerprint(self) -> str:
        """Digest the lines alone, with the version of this rule in front."""
        text = "\n".join(f"{line.sku} {line.quantity}" for line in self.lines)
        return f"{FINGERPRINT_VERSION}:{blake2b(text.encode(), digest_size=FINGERPRINT_DIGEST_BYTES).hexdigest()}"


def merge_lines(lines: Iterable[tuple[str, int]]) -> tuple[Line, ...]:
    """Add up `(sku, quantity)` pairs of one product, and sort by sku: split or reordered lines are the same request."""
    quantities: dict[str, int] = {}
    for sku, quantity in lines:
        quantities[sku] = quantities.get(sku, 0) + quantity
    return tuple(Line(sku, quantities[sku]) for sku in sorted(quantities))
