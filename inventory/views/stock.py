"""The API of stock and its ledger: for staff alone."""

import re

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from access.permissions import MayWriteStock
from access.schema import refuses
from inventory import documents, ledger, openapi, parsing, request_ids, services
from inventory.api import ANY_ETAG, PAGING, buyer_of, if_match, page, respond
from inventory.exceptions import ProductNotFound
from inventory.models import Product, Stock, StockMovement
from inventory.views.products import OfProduct

#: An ETag of the stock: its version in quotes. PostgreSQL's bigint has no more digits.
_VERSION = re.compile(r'"([0-9]{1,19})"\Z')

_stock_body = msgspec.json.Decoder(documents.StockBody)
_movement_body = msgspec.json.Decoder(documents.MovementBody)


class StockDetail(OfProduct):
    """The stock of one product."""

    permission_classes = (MayWriteStock,)

    @extend_schema(
        operation_id="show_stock",
        summary="Show stock",
        parameters=[openapi.SKU, openapi.ETAG_OF_STOCK],
        responses={200: openapi.schema("StockDocument")},
        examples=[openapi.answered("The stock", {"product": "tee-red", "available": 8, "version": 3})],
    )
    @refuses(*openapi.OF_STAFF, "not_found")
    def get(self, request: Request, sku: str) -> HttpResponse:
        """Show the available units; the ETag is the stock's version. Needs the scope `stock:write`."""
        stock = Stock.objects.filter(product__sku=sku).order_by("pk").first()
        if stock is None:
            raise ProductNotFound
        document = documents.StockDocument(product=sku, available=stock.available, version=stock.version)
        return respond(document, headers=_etag(stock.version))

    @extend_schema(
        operation_id="seed_stock",
        summary="Seed stock",
        parameters=[
            openapi.SKU,
            openapi.IF_MATCH_STOCK,
            openapi.IDEMPOTENCY_KEY,
            openapi.ETAG_OF_STOCK,
            openapi.REPLAYED,
        ],
        request=openapi.body("StockBody"),
        responses={200: openapi.schema("SeededDocument")},
        examples=[
            openapi.sent("Ten units", {"available": 10, "request_id": openapi.MOVEMENT["request_id"]}),
            openapi.answered(
                "The stock and its movement",
                {
                    "product": "tee-red",
                    "available": 10,
                    "version": 1,
                    "movement": openapi.MOVEMENT
                    | {"seq": 1, "kind": "seeded", "delta": 10, "balance_after": 10, "reason": ""},
                },
            ),
        ],
    )
    @refuses(
        *openapi.OF_STAFF,
        *openapi.OF_BODIES,
        *openapi.OF_REQUEST_IDS,
        "not_found",
        "request_id_reused",
        "precondition_required",
        "precondition_failed",
    )
    def put(self, request: Request, sku: str) -> HttpResponse:
        """Bring the available units to a number by a movement of the difference.

        Once seeded, the ETag that you have seen is needed in If-Match. A repeat is answered before it is compared, and
        moves nothing. Needs the scope `stock:write`.
        """
        body = parsing.parse(_stock_body, self.body())
        change = services.seed(
            sku=sku,
            available=body.available,
            request_id=request_ids.read(body.request_id, in_header=request_ids.header_of(request.META)),
            actor=buyer_of(request),
            if_versions=_versions(if_match(request)),
        )
        movement = None if change.movement is None else documents.movement_document(change.movement, sku=sku)
        document = documents.SeededDocument(sku, change.available, change.version, movement)
        return respond(document, headers=_etag(change.version) | _replayed(change))


class Movements(OfProduct):
    """The ledger of one product."""

    permission_classes = (MayWriteStock,)
    parameters = PAGING

    @extend_schema(
        operation_id="list_movements",
        summary="Show the ledger",
        parameters=[openapi.SKU, *openapi.PAGES],
        responses={200: openapi.schema("MovementPage")},
        examples=[openapi.answered("A page", {"next": None, "results": [openapi.MOVEMENT]})],
    )
    @refuses(*openapi.OF_STAFF, "not_found")
    def get(self, request: Request, sku: str) -> HttpResponse:
        """Show the movements of a product's units, the newest first. Needs the scope `stock:write`."""
        product = Product.objects.filter(sku=sku).order_by("pk").first()
        if product is None:
            raise ProductNotFound
        entries = StockMovement.objects.filter(product=product).newest_first()
        found, next_page = page(
            request, entries, key="seq", query=self.query(), read_cursor=_read_seq, newest_first=True
        )
        rows = [documents.movement_document(ledger.from_model(entry), sku=sku) for entry in found]
        return respond(documents.MovementPage(next=next_page, results=rows))

    @extend_schema(
        operation_id="adjust_stock",
        summary="Adjust stock",
        parameters=[openapi.SKU, openapi.IDEMPOTENCY_KEY, openapi.REPLAYED],
        request=openapi.body("MovementBody"),
        responses={201: openapi.schema("MovementDocument")},
        examples=[
            openapi.sent(
                "Two damaged",
                {"delta": -2, "reason": "damaged", "request_id": openapi.MOVEMENT["request_id"]},
            ),
            openapi.answered("The entry", openapi.MOVEMENT, status=201),
        ],
    )
    @refuses(
        *openapi.OF_STAFF,
        *openapi.OF_BODIES,
        *openapi.OF_REQUEST_IDS,
        "not_found",
        "request_id_reused",
        "insufficient_stock",
    )
    def post(self, request: Request, sku: str) -> HttpResponse:
        """Add or take away units with a reason. A repeat gives the same entry. Needs the scope `stock:write`."""
        body = parsing.parse(_movement_body, self.body())
        change = services.adjust(
            sku=sku,
            delta=body.delta,
            reason=body.reason,
            request_id=request_ids.read(body.request_id, in_header=request_ids.header_of(request.META)),
            actor=buyer_of(request),
        )
        assert change.movement is not None, "an adjustment always moves something"
        return respond(documents.movement_document(change.movement, sku=sku), status=201, headers=_replayed(change))


def _etag(version: int) -> dict[str, str]:
    return {"ETag": f'"{version}"'}


def _replayed(change: services.StockChange) -> dict[str, str]:
    return {"Idempotent-Replayed": "true"} if change.replayed else {}


def _versions(etags: list[str] | None) -> services.Versions | None:
    """Read the versions of If-Match; what is none of ours is the version of nothing."""
    if etags is None:
        return None
    if ANY_ETAG in etags:
        return services.ANY
    return frozenset(int(match[1]) for etag in etags if (match := _VERSION.match(etag)))


def _read_seq(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise ValueError(text)
    return int(text)
