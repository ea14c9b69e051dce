"""What inventory refuses. A refusal's docstring is the sentence that the caller is shown."""

from collections.abc import Sequence
from typing import Any, ClassVar


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not an error.
    """The request was refused."""

    code: ClassVar[str]
    #: The same request may succeed later without anybody changing it.
    retryable: ClassVar[bool] = False
    retry_after_seconds: int | None = None

    @property
    def sentence(self) -> str:
        """Give the sentence for a person; the first line of the docstring."""
        return (self.__doc__ or "").strip().splitlines()[0]

    def members(self) -> dict[str, Any]:
        """Give the further members of the problem document: JSON types only."""
        return {}


class Invalid(Refusal):
    """The request is not valid."""

    code = "invalid"

    def __init__(self, errors: Sequence[tuple[str, str]]) -> None:
        """Keep what is wrong: pairs of a JSON pointer into the body and a detail."""
        super().__init__(tuple(errors))
        self.errors = tuple(errors)

    @classmethod
    def at(cls, pointer: str, detail: str) -> "Invalid":
        """Name one place and what is wrong there."""
        return cls([(pointer, detail)])

    def members(self) -> dict[str, Any]:
        """List what is wrong."""
        return {"errors": [{"pointer": pointer, "detail": detail} for pointer, detail in self.errors]}


class ProductNotFound(Refusal):
    """There is no such product."""

    code = "not_found"


class SkuTaken(Refusal):
    """There is a product with this sku already."""

    code = "sku_taken"


class RequestIdMissing(Refusal):
    """A request_id is needed, in the body or as the header Idempotency-Key."""

    code = "request_id_missing"


class RequestIdInvalid(Refusal):
    """A request_id is 1 to 128 characters of A-Z a-z 0-9 . _ ~ : -"""

    code = "request_id_invalid"


class RequestIdConflict(Refusal):
    """The request_id of the body and the header Idempotency-Key differ."""

    code = "request_id_conflict"


class RequestIdReused(Refusal):
    """This request_id was used before with other content."""

    code = "request_id_reused"


class InsufficientStock(Refusal):
    """There are fewer units available than this would take away."""

    code = "insufficient_stock"

    def __init__(self, *, available: int) -> None:
        """Keep how many units there are."""
        super().__init__(available)
        self.available = available

    def members(self) -> dict[str, Any]:
        """Name what is there."""
        return {"available": self.available}


class StockVersionRequired(Refusal):
    """This product was seeded before: send If-Match with the ETag of its stock."""

    code = "precondition_required"


class ProductChanged(Refusal):
    """The product has changed since that ETag was read."""

    code = "precondition_failed"


class StockVersionStale(Refusal):
    """The stock has changed since that ETag was read."""

    code = "precondition_failed"
