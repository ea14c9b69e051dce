"""Decide a batch of commands in memory, in arrival order, against the books as they were read under the lock.

Nothing here reads or writes the database: the rows that it changes are the caller's, who writes them in the same
transaction.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from inventory.exceptions import Invalid, Refusal, RequestIdReused
from inventory.ledger import StockRow
from inventory.models import StockMovement
from orders.books import Books
from orders.command import Line, PlaceOrder
from orders.exceptions import PriceChanged, PurchaseLimit, SaleNotOpen, SoldOut, UnknownProduct
from orders.models import Order
from orders.outcomes import Outcome, Placed, PlacedLine, PlacedOrder, Refused

FREE = Decimal("0.00")


def decide(commands: Sequence[PlaceOrder], books: Books, *, new_id: Callable[[], UUID]) -> list[Outcome]:
    """Give one outcome per command, in their order; the books then hold what has to be written."""
    return [_decide(command, books, new_id) for command in commands]


def _decide(command: PlaceOrder, books: Books, new_id: Callable[[], UUID]) -> Outcome:
    try:
        known = books.orders.get(command.key)
        if known is not None:
            return _replay(command, *known)
        wanted = _wanted(command, books)
        _check_windows(wanted, now=books.now)
        _check_limits(command.buyer, wanted, books)
        _check_stock(wanted)
        total = _check_price(command, wanted)
    except Refusal as refusal:
        return Refused(refusal)
    return Placed(_place(command, wanted, total, books, order_id=new_id()), replayed=False)


def _replay(command: PlaceOrder, fingerprint: str, order: PlacedOrder) -> Placed:
    if fingerprint != command.fingerprint:
        raise RequestIdReused
    return Placed(order, replayed=True)


def _wanted(command: PlaceOrder, books: Books) -> list[tuple[Line, StockRow]]:
    wanted = []
    for line in command.lines:
        row = books.rows.get(line.sku)
        if row is None or not row.active:
            raise UnknownProduct(sku=line.sku)
        wanted.append((line, row))
    if len({row.currency for _, row in wanted}) > 1:
        raise Invalid.at("/lines", "must all be of one currency")
    return wanted


def _check_windows(wanted: list[tuple[Line, StockRow]], *, now: datetime) -> None:
    for line, row in wanted:
        if (row.opens_at is not None and now < row.opens_at) or (row.closes_at is not None and row.closes_at <= now):
            raise SaleNotOpen(sku=line.sku, opens_at=row.opens_at, closes_at=row.closes_at, now=now)


def _check_limits(buyer: str, wanted: list[tuple[Line, StockRow]], books: Books) -> None:
    for line, row in wanted:
        owned = books.tallies.get((row.product_id, buyer), 0)
        if row.limit_per_buyer is not None and owned + line.quantity > row.limit_per_buyer:
            raise PurchaseLimit(sku=line.sku, limit=row.limit_per_buyer, owned=owned)


def _check_stock(wanted: list[tuple[Line, StockRow]]) -> None:
    short = [(line, row) for line, row in wanted if line.quantity > row.available]
    if short:
        raise SoldOut(
            available={line.sku: row.available for line, row in wanted},
            held=all(line.quantity <= row.available + row.held for line, row in short),
        )


def _check_price(command: PlaceOrder, wanted: list[tuple[Line, StockRow]]) -> Decimal:
    total = sum((row.price * line.quantity for line, row in wanted), FREE)
    if command.expected_total is not None and command.expected_total != total:
        raise PriceChanged(total=total, currency=wanted[0][1].currency)
    return total


def _place(
    command: PlaceOrder, wanted: list[tuple[Line, StockRow]], total: Decimal, books: Books, *, order_id: UUID
) -> PlacedOrder:
    is_free = total == FREE
    for line, row in wanted:
        movement = row.move(
            kind=StockMovement.Kind.PLACED,
            delta=-line.quantity,
            actor=command.buyer,
            now=books.now,
            order_id=order_id,
        )
        books.movements.append(movement)
        row.orders_total += 1
        row.held += 0 if is_free else line.quantity
        tally = (row.product_id, command.buyer)
        books.tallies[tally] = books.tallies.get(tally, 0) + line.quantity
    order = PlacedOrder(
        id=order_id,
        request_id=command.request_id,
        buyer=command.buyer,
        status=Order.Status.CONFIRMED.value if is_free else Order.Status.RESERVED.value,
        lines=tuple(PlacedLine(line.sku, line.quantity, row.price) for line, row in wanted),
        total=total,
        currency=wanted[0][1].currency,
        created_at=books.now,
        expires_at=None if is_free else _expiry(wanted, now=books.now),
        confirmed_at=books.now if is_free else None,
        cancelled_at=None,
        expired_at=None,
    )
    books.placed.append(order)
    books.orders[command.key] = (command.fingerprint, order)
    return order


def _expiry(wanted: list[tuple[Line, StockRow]], *, now: datetime) -> datetime | None:
    """End the hold of an order with the shortest of its products' holds."""
    holds = [row.hold_seconds for _, row in wanted if row.hold_seconds is not None]
    return now + timedelta(seconds=min(holds)) if holds else None
