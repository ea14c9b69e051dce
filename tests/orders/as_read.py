"""Books as placing has read them, made in memory, and commands to decide against them."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from uuid_utils.compat import uuid7

from inventory.exceptions import Refusal
from inventory.ledger import StockRow
from inventory.models import GENESIS_HASH
from orders import deciding
from orders.books import Books
from orders.command import PlaceOrder, merge_lines
from orders.outcomes import Placed, PlacedOrder, Refused
from tests.races.sale import told

NOW = datetime(2030, 5, 1, 12, 0, tzinfo=UTC)


def stocked(sku: str = "tee", **facts: Any) -> StockRow:  # the fields of a stock row
    """Make a stock row as it was read: ten units at 19.90, no limit, an endless window."""
    row = StockRow(
        product_id=sum(sku.encode()),
        sku=sku,
        price=Decimal("19.90"),
        currency="EUR",
        limit_per_buyer=None,
        hold_seconds=900,
        opens_at=None,
        closes_at=None,
        active=True,
        admission="direct",
        available=10,
        held=0,
        orders_total=0,
        version=1,
        ledger_seq=1,
        ledger_hash=GENESIS_HASH,
    )
    for name, value in facts.items():
        setattr(row, name, value)
    return row


def read(*rows: StockRow) -> Books:
    """Make books that have these rows and no order."""
    return Books(now=NOW, rows={row.sku: row for row in rows}, orders={}, tallies={})


def wants(*lines: tuple[str, int], request_id: str = "one", total: str | None = None) -> PlaceOrder:
    """Ask for units; without lines for one tee."""
    expected = None if total is None else Decimal(total)
    return PlaceOrder("ann", request_id, merge_lines(lines or [("tee", 1)]), expected)


def decide(books: Books, *commands: PlaceOrder) -> list[str]:
    """Decide commands, and say what each buyer is told."""
    return [told(outcome) for outcome in deciding.decide(commands, books, new_id=uuid7)]


def order_of(books: Books, command: PlaceOrder) -> PlacedOrder:
    """Decide a command that is placed."""
    [outcome] = deciding.decide([command], books, new_id=uuid7)
    assert isinstance(outcome, Placed)
    return outcome.order


def refusal_of(books: Books, command: PlaceOrder) -> Refusal:
    """Decide a command that is refused."""
    [outcome] = deciding.decide([command], books, new_id=uuid7)
    assert isinstance(outcome, Refused)
    return outcome.refusal
