"""What the product is compared with: the floor, one transaction per order, and the negative control."""

from datetime import UTC, datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import F
from django.http import HttpResponse
from rest_framework.request import Request
from uuid_utils.compat import uuid7

from inventory import ledger, request_ids
from inventory.api import buyer_of, respond
from inventory.models import Stock, StockMovement
from orders import intake, placing
from orders.command import PlaceOrder
from orders.exceptions import PurchaseLimit, SoldOut
from orders.models import BuyerTally, Order, OrderLine
from orders.outcomes import PlacedLine, PlacedOrder
from orders.views import Orders, answer

#: An answer of an order's size.
FLOOR_ANSWER = PlacedOrder(
    id=uuid7(),
    request_id="8e03978e-40d5-43e8-bc93-6894a57f9324",
    buyer="user001",
    status="reserved",
    lines=(PlacedLine("tee-red", 1, Decimal("19.90")),),
    total=Decimal("19.90"),
    currency="EUR",
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    expires_at=None,
    confirmed_at=None,
    cancelled_at=None,
    expired_at=None,
)


class Product(Orders):
    """The product's own view, beside the negative control that took its address."""


class Floor(Orders):
    """Nothing but the token check, the throttle, and an answer."""

    def post(self, request: Request) -> HttpResponse:
        """Answer at once."""
        return respond(FLOOR_ANSWER, status=201)


class OneTransactionPerOrder(Orders):
    """The product without its group commit."""

    def post(self, request: Request) -> HttpResponse:
        """Place one order in a transaction of its own."""
        [outcome] = placing.place([_command(self, request)])
        return answer(outcome)


class PlainOrm(Orders):
    """What a good Django developer writes: row locks, models, one transaction."""

    def post(self, request: Request) -> HttpResponse:
        """Place one order of one line."""
        command = _command(self, request)
        [line] = command.lines
        with transaction.atomic(durable=True):
            stock = Stock.objects.select_for_update(of=("self",)).select_related("product").get(product__sku=line.sku)
            stock.refresh_from_db()
            known = Order.objects.of_buyer(command.buyer).filter(request_id=command.request_id).first()
            order = known or _place(command, stock)
        return respond({"id": order.pk}, status=201)


def _place(command: PlaceOrder, stock: Stock) -> Order:
    [line] = command.lines
    product, now = stock.product, datetime.now(UTC)
    tally, _ = BuyerTally.objects.get_or_create(product=product, buyer=command.buyer, defaults={"units": 0})
    if product.limit_per_buyer is not None and tally.units + line.quantity > product.limit_per_buyer:
        raise PurchaseLimit(sku=line.sku, limit=product.limit_per_buyer, owned=tally.units)
    if stock.available < line.quantity:
        raise SoldOut(available={line.sku: stock.available}, held=False)
    order = _save(command, stock, now)
    tally.units += line.quantity
    tally.limit = product.limit_per_buyer
    tally.save()
    fields = (stock.pk, stock.ledger_seq + 1, "placed", -line.quantity, stock.available - line.quantity, "")
    digest = ledger.chain_hash(bytes(stock.ledger_hash), *fields, command.buyer, None, order.pk, created_at=now)
    StockMovement.objects.create(
        product=product,
        seq=stock.ledger_seq + 1,
        kind="placed",
        delta=-line.quantity,
        balance_after=stock.available - line.quantity,
        actor=command.buyer,
        order_id=order.pk,
        created_at=now,
        previous_hash=stock.ledger_hash,
        hash=digest,
    )
    stock.available -= line.quantity
    stock.held += line.quantity
    stock.orders_total += 1
    stock.version += 1
    stock.ledger_seq += 1
    stock.ledger_hash = digest
    stock.save()
    return order


class ReadDecideWrite(Orders):
    """The negative control: it reads the stock, decides, and writes what it decided. It oversells."""

    def post(self, request: Request) -> HttpResponse:
        """Sell a unit that may be another's as well."""
        command = _command(self, request)
        [line] = command.lines
        known = Order.objects.of_buyer(command.buyer).filter(request_id=command.request_id).first()
        if known is not None:
            return respond({"id": known.pk}, status=201, headers={"Idempotent-Replayed": "true"})
        stock = Stock.objects.select_related("product").get(product__sku=line.sku)
        if stock.available < line.quantity:
            raise SoldOut(available={line.sku: stock.available}, held=False)
        order = _save(command, stock, datetime.now(UTC))
        Stock.objects.filter(pk=stock.pk).update(available=stock.available - line.quantity, version=F("version") + 1)
        return respond({"id": order.pk}, status=201)


def _save(command: PlaceOrder, stock: Stock, now: datetime) -> Order:
    """Write an order of one line."""
    [line] = command.lines
    price = stock.product.price
    order, is_new = Order.objects.get_or_create(
        buyer=command.buyer,
        request_id=command.request_id,
        defaults={
            "fingerprint": command.fingerprint,
            "status": Order.Status.RESERVED,
            "total": price * line.quantity,
            "currency": stock.product.currency,
            "created_at": now,
        },
    )
    if is_new:
        OrderLine.objects.create(order=order, product=stock.product, quantity=line.quantity, unit_price=price)
    return order


def _command(view: Orders, request: Request) -> PlaceOrder:
    given = intake.parse(view.body())
    return intake.command_of(given, buyer=buyer_of(request), in_header=request_ids.header_of(request.META))
