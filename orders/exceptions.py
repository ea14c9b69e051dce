"""What orders refuse. A refusal's docstring is the sentence that the buyer is shown."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from inventory.exceptions import Refusal


class OrderNotFound(Refusal):
    """There is no such order among those that you may see."""

    code = "not_found"


class RequestInProgress(Refusal):
    """The same request is still running: ask again."""

    code = "request_in_progress"
    retryable = True
    retry_after_seconds = 1


class UnknownProduct(Refusal):
    """There is no such product on sale."""

    code = "unknown_product"

    def __init__(self, *, sku: str) -> None:
        """Keep the sku."""
        super().__init__(sku)
        self.sku = sku

    def members(self) -> dict[str, Any]:
        """Name the product."""
        return {"product": self.sku}


class SaleNotOpen(Refusal):
    """The sale has not opened yet, or is over."""

    code = "sale_not_open"

    def __init__(self, *, sku: str, opens_at: datetime | None, closes_at: datetime | None, now: datetime) -> None:
        """Keep the window, and how long it is until it opens."""
        super().__init__(sku)
        self.sku = sku
        self.opens_at = opens_at
        self.closes_at = closes_at
        if opens_at is not None and now < opens_at:
            self.retry_after_seconds = int((opens_at - now).total_seconds()) + 1

    def members(self) -> dict[str, Any]:
        """Name the product and its window."""
        return {"product": self.sku, "opens_at": self.opens_at, "closes_at": self.closes_at}


class PurchaseLimit(Refusal):
    """This would pass the limit per buyer."""

    code = "purchase_limit"

    def __init__(self, *, sku: str, limit: int, owned: int) -> None:
        """Keep the limit and what the buyer has, in units."""
        super().__init__(sku, limit, owned)
        self.sku = sku
        self.limit = limit
        self.owned = owned

    def members(self) -> dict[str, Any]:
        """Name the product, its limit, and what the buyer has."""
        return {"product": self.sku, "limit": self.limit, "owned": self.owned}


class SoldOut(Refusal):
    """There are not enough units left."""

    code = "sold_out"
    #: A hold may end at any moment; asking more often than this only costs.
    HOLD_RETRY_SECONDS = 5

    def __init__(self, *, available: Mapping[str, int], held: bool) -> None:
        """Keep the units available by sku, and whether a hold of somebody's may still bring units back."""
        super().__init__(dict(available))
        self.available = dict(available)
        self.held = held
        self.retry_after_seconds = self.HOLD_RETRY_SECONDS if held else None

    def members(self) -> dict[str, Any]:
        """Say per line what is left."""
        lines = [{"product": sku, "available": units} for sku, units in self.available.items()]
        return {"lines": lines, "retryable": self.held}


class PriceChanged(Refusal):
    """The price has changed."""

    code = "price_changed"

    def __init__(self, *, total: Decimal, currency: str) -> None:
        """Keep what the order would cost now."""
        super().__init__(total, currency)
        self.total = total
        self.currency = currency

    def members(self) -> dict[str, Any]:
        """Name the total of now."""
        return {"total": str(self.total), "currency": self.currency}


class Busy(Refusal):
    """Too much is going on: nothing was done, repeat with the same request_id."""

    code = "busy"
    retryable = True
    retry_after_seconds = 1


class OutcomeUnknown(Busy):
    """What became of the request is unknown: repeat with the same request_id to learn it."""
