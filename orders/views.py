"""The API of orders."""

from functools import cache
from uuid import UUID

import msgspec
from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from access.caller import ANY_BUYER, caller_of, is_buyer
from access.schema import refuses
from access.throttling import OrderThrottle
from inventory import openapi as pieces
from inventory import request_ids
from inventory.api import PAGING, JsonView, buyer_of, page, respond
from inventory.exceptions import Invalid
from inventory.views.products import is_sku
from orders import admission, documents, intake, openapi
from orders.exceptions import OrderNotFound
from orders.models import Order
from orders.outcomes import Broken, Outcome, Refused


class Orders(JsonView):
    """Placing orders, and the list of one's own."""

    parameters = ("request_id", "status", "product", "buyer", *PAGING)

    def get_throttles(self) -> list[BaseThrottle]:
        """Count order calls alone."""
        return [OrderThrottle()] if self.request.method == "POST" else []

    @extend_schema(
        operation_id="place_order",
        summary="Place an order",
        parameters=[pieces.IDEMPOTENCY_KEY, pieces.LOCATION, pieces.REPLAYED],
        request=pieces.body("OrderBody"),
        responses={201: pieces.schema("PlacedOrder")},
        examples=[
            pieces.sent("One unit", openapi.ORDER_BODY),
            pieces.answered("The order", openapi.ORDER, status=201),
        ],
    )
    @refuses(
        "not_authenticated",
        "permission_denied",
        "throttled",
        *pieces.OF_BODIES,
        *pieces.OF_REQUEST_IDS,
        "unknown_product",
        "request_in_progress",
        "request_id_reused",
        "sold_out",
        "purchase_limit",
        "sale_not_open",
        "price_changed",
    )
    def post(self, request: Request) -> HttpResponse:
        """Place an order, once: the same `request_id` again gives the same order, for ever.

        201 is sent after the commit. A refusal (4xx) leaves no trace. After 5xx or a broken connection the outcome is
        unknown: repeat with the same `request_id`.
        """
        body = intake.parse(self.body())
        buyer = _buyer_of(request, None if body.buyer is msgspec.UNSET else body.buyer, pointer="/buyer")
        command = intake.command_of(body, buyer=buyer, in_header=request_ids.header_of(request.META))
        return answer(admission.admit(command))

    @extend_schema(
        operation_id="list_orders",
        summary="List orders",
        parameters=[*openapi.FILTERS, *pieces.PAGES],
        responses={200: pieces.schema("OrderPage")},
        examples=[pieces.answered("A page", {"next": None, "results": [openapi.ORDER]})],
    )
    @refuses("not_authenticated", "permission_denied", "request_id_invalid")
    def get(self, request: Request) -> HttpResponse:
        """List one's own orders, the newest first; with the scope `orders:any-buyer` those of any `buyer`."""
        query = self.query()
        orders = Order.objects.of_buyer(_buyer_of(request, query.get("buyer"), pointer="?buyer"))
        if "request_id" in query:
            orders = orders.filter(request_id=request_ids.read(query["request_id"], in_header=None))
        if "status" in query:
            orders = orders.filter(status=_checked_status(query["status"]))
        if "product" in query:
            orders = orders.of_product(_checked_sku(query["product"]))
        newest = orders.with_lines().newest_first()
        found, next_page = page(request, newest, key="id", query=query, read_cursor=UUID, newest_first=True)
        return respond(documents.OrderPage(next_page, [documents.order_document(order) for order in found]))


class OrderDetail(JsonView):
    """One order."""

    @extend_schema(
        operation_id="show_order",
        summary="Show an order",
        responses={200: pieces.schema("PlacedOrder")},
        examples=[pieces.answered("The order", openapi.ORDER)],
    )
    @refuses("not_authenticated", "not_found")
    def get(self, request: Request, id: UUID) -> HttpResponse:  # noqa: A002 - the name in the URL
        """Show one of one's own orders; with the scope `orders:any-buyer` anybody's."""
        orders = Order.objects.all() if _may_name(request) else Order.objects.of_buyer(buyer_of(request))
        order = orders.with_lines().filter(id=id).newest_first().first()
        if order is None:
            raise OrderNotFound
        return respond(documents.order_document(order))


class RequestDetail(JsonView):
    """What became of a request."""

    parameters = ("buyer",)

    @extend_schema(
        operation_id="show_request",
        summary="Show what became of a request",
        parameters=[openapi.REQUEST_ID, openapi.BUYER],
        responses={200: pieces.schema("RequestDocument")},
        examples=[
            pieces.answered("Placed", {"status": "placed", "order": f"/api/v1/orders/{openapi.ORDER['id']}/"}),
            pieces.answered("Unknown", {"status": "unknown"}),
        ],
    )
    @refuses("not_authenticated", "permission_denied", "request_id_invalid")
    def get(self, request: Request, request_id: str) -> HttpResponse:
        """Say `placed` and where its order is, or `unknown`: then no order has come of the request so far."""
        buyer = _buyer_of(request, self.query().get("buyer"), pointer="?buyer")
        key = request_ids.read(request_id, in_header=None)
        order = Order.objects.of_buyer(buyer).filter(request_id=key).newest_first().first()
        if order is None:
            return respond(documents.RequestDocument("unknown"))
        return respond(documents.RequestDocument("placed", order=_address_of(order.id)))


def answer(outcome: Outcome) -> HttpResponse:
    """Render an outcome: the order, or raise what kept it from being placed."""
    if isinstance(outcome, Refused):
        raise outcome.refusal
    if isinstance(outcome, Broken):
        raise outcome.error
    headers = {"Location": _address_of(outcome.order.id)}
    if outcome.replayed:
        headers["Idempotent-Replayed"] = "true"
    return respond(outcome.order, status=201, headers=headers)


def _address_of(order_id: UUID) -> str:
    """Give the address of an order, below that of the list; to reverse each would cost more than to parse its body."""
    return f"{_address_of_orders()}{order_id}/"


@cache
def _address_of_orders() -> str:
    return reverse("orders")


def _buyer_of(request: Request, named: str | None, *, pointer: str) -> str:
    """Give the buyer that a call is about: the caller, or the one he names if he may."""
    if named is None:
        return buyer_of(request)
    if not _may_name(request):
        raise PermissionDenied(f"To name a buyer needs the scope {ANY_BUYER}.")
    if not is_buyer(named):
        raise Invalid.at(pointer, "must be 1 to 128 printable characters")
    return named


def _may_name(request: Request) -> bool:
    caller = caller_of(request)
    return caller is not None and caller.may(ANY_BUYER)


def _checked_status(text: str) -> str:
    if text not in Order.Status.values:
        raise Invalid.at("?status", f"must be one of {', '.join(Order.Status.values)}")
    return text


def _checked_sku(text: str) -> str:
    if not is_sku(text):
        raise Invalid.at("?product", "must be a sku")
    return text
