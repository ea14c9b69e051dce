"""The API of products, their stock and their ledger."""

import hashlib
import re

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from access.permissions import MayWriteStock, MayWriteStockOrRead
from access.schema import refuses
from inventory import documents, ledger, parsing, request_ids, services
from inventory.api import JsonView, buyer_of, page, respond
from inventory.exceptions import ProductNotFound
from inventory.models import SKU_PATTERN, Product, Stock, StockMovement
from inventory.openapi import (
    ETAG,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    IF_NONE_MATCH,
    LOCATION,
    PAGES,
    REPLAYED,
    SKU,
    body,
    schema,
)

ETAG_DIGEST_BYTES = 16

_product_body = msgspec.json.Decoder(documents.ProductBody)
_product_changes = msgspec.json.Decoder(documents.ProductChanges)
_stock_body = msgspec.json.Decoder(documents.StockBody)
_movement_body = msgspec.json.Decoder(documents.MovementBody)


class Products(JsonView):
    """The list of products."""

    permission_classes = (MayWriteStockOrRead,)

    @extend_schema(
        operation_id="list_products", summary="List products", parameters=PAGES, responses={200: schema("ProductPage")}
    )
    def get(self, request: Request) -> HttpResponse:
        """Show all products by sku, each with its stock of this moment."""
        products = Product.objects.with_stock()
        found, next_page = page(request, products, key="sku", query=self.query(), read_cursor=_read_sku)
        rows = [documents.product_document(product) for product in found]
        return respond(documents.ProductPage(next=next_page, results=rows))

    @extend_schema(
        operation_id="create_product",
        summary="Create a product",
        request=body("ProductBody"),
        responses={201: schema("ProductDocument")},
        parameters=[LOCATION],
    )
    @refuses("sku_taken", "not_authenticated", "permission_denied", "unsupported_media_type", "payload_too_large")
    def post(self, request: Request) -> HttpResponse:
        """Create a product and its empty stock. Needs the scope `stock:write`."""
        given = parsing.parse(_product_body, self.body())
        services.create_product(**documents.fields_of(given))
        location = f"{request.path}{given.sku}/"
        return respond(_document(given.sku), status=201, headers={"Location": location})


class ProductDetail(JsonView):
    """One product."""

    permission_classes = (MayWriteStockOrRead,)

    @extend_schema(
        operation_id="show_product",
        summary="Show a product",
        parameters=[SKU, IF_NONE_MATCH, ETAG],
        responses={200: schema("ProductDocument"), 304: None},
    )
    @refuses("not_found")
    def get(self, request: Request, sku: str) -> HttpResponse:
        """Show a product, with its stock of this moment."""
        document = _document(sku)
        digest = hashlib.blake2b(msgspec.json.encode(document), digest_size=ETAG_DIGEST_BYTES).hexdigest()
        etag = f'"{digest}"'
        known = request.META.get("HTTP_IF_NONE_MATCH", "")
        if known.strip() == "*" or etag in re.findall(r'"[^"]*"', known):
            return HttpResponse(status=304, headers={"ETag": etag})
        return respond(document, headers={"ETag": etag})

    @extend_schema(
        operation_id="change_product",
        summary="Change a product",
        parameters=[SKU],
        request=body("ProductChanges"),
        responses={200: schema("ProductDocument")},
    )
    @refuses("not_found", "not_authenticated", "permission_denied", "unsupported_media_type", "payload_too_large")
    def patch(self, request: Request, sku: str) -> HttpResponse:
        """Change what a product says; what is left out stays, and so does its stock. Needs the scope `stock:write`."""
        changes = documents.fields_of(parsing.parse(_product_changes, self.body()))
        services.update_product(sku=sku, **changes)
        return respond(_document(sku))


class StockDetail(JsonView):
    """The stock of one product."""

    permission_classes = (MayWriteStock,)

    @extend_schema(
        operation_id="show_stock",
        summary="Show stock",
        parameters=[SKU, ETAG],
        responses={200: schema("StockDocument")},
    )
    @refuses("not_found", "not_authenticated", "permission_denied")
    def get(self, request: Request, sku: str) -> HttpResponse:
        """Show the available units; the ETag is the stock's version. Needs the scope `stock:write`."""
        stock = Stock.objects.filter(product__sku=sku).order_by("pk").first()
        if stock is None:
            raise ProductNotFound
        document = documents.StockDocument(product=sku, available=stock.available, version=stock.version)
        return respond(document, headers={"ETag": f'"{stock.version}"'})

    @extend_schema(
        operation_id="seed_stock",
        summary="Seed stock",
        parameters=[SKU, IF_MATCH, IDEMPOTENCY_KEY, ETAG, REPLAYED],
        request=body("StockBody"),
        responses={200: schema("StockDocument")},
    )
    @refuses(
        "not_found",
        "not_authenticated",
        "permission_denied",
        "unsupported_media_type",
        "payload_too_large",
        "request_id_missing",
        "request_id_reused",
        "precondition_required",
        "precondition_failed",
    )
    def put(self, request: Request, sku: str) -> HttpResponse:
        """Bring the available units to a number by a movement of the difference.

        Once seeded, the ETag that you have seen is needed in If-Match. Needs the scope `stock:write`.
        """
        given = parsing.parse(_stock_body, self.body())
        change = services.seed(
            sku=sku,
            available=given.available,
            request_id=request_ids.read(given.request_id, in_header=request_ids.header_of(request.META)),
            actor=buyer_of(request),
            if_versions=_versions(request.META.get("HTTP_IF_MATCH")),
        )
        movement = None if change.movement is None else documents.movement_document(change.movement, sku=sku)
        document = documents.StockDocument(sku, change.available, change.version, movement)
        return respond(document, headers={"ETag": f'"{change.version}"'} | _replayed(change))


class Movements(JsonView):
    """The ledger of one product."""

    permission_classes = (MayWriteStock,)

    @extend_schema(
        operation_id="list_movements",
        summary="Show the ledger",
        parameters=[SKU, *PAGES],
        responses={200: schema("MovementPage")},
    )
    @refuses("not_found", "not_authenticated", "permission_denied")
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
        parameters=[SKU, IDEMPOTENCY_KEY, REPLAYED],
        request=body("MovementBody"),
        responses={201: schema("MovementDocument")},
    )
    @refuses(
        "not_found",
        "not_authenticated",
        "permission_denied",
        "unsupported_media_type",
        "payload_too_large",
        "request_id_missing",
        "request_id_reused",
        "insufficient_stock",
    )
    def post(self, request: Request, sku: str) -> HttpResponse:
        """Add or take away units with a reason. A repeat gives the same entry. Needs the scope `stock:write`."""
        given = parsing.parse(_movement_body, self.body())
        change = services.adjust(
            sku=sku,
            delta=given.delta,
            reason=given.reason,
            request_id=request_ids.read(given.request_id, in_header=request_ids.header_of(request.META)),
            actor=buyer_of(request),
        )
        assert change.movement is not None, "an adjustment always moves something"
        return respond(documents.movement_document(change.movement, sku=sku), status=201, headers=_replayed(change))


def _document(sku: str) -> documents.ProductDocument:
    product = Product.objects.with_stock().filter(sku=sku).first()
    if product is None:
        raise ProductNotFound
    return documents.product_document(product)


def _replayed(change: services.StockChange) -> dict[str, str]:
    return {"Idempotent-Replayed": "true"} if change.replayed else {}


def _versions(header: str | None) -> services.Versions | None:
    """Read If-Match: versions in quotes. A weak tag matches nothing (RFC 9110, section 13.1.1)."""
    if header is None:
        return None
    if header.strip() == services.ANY:
        return services.ANY
    return frozenset(int(digits) for digits in re.findall(r'(?<!W/)"([0-9]{1,18})"', header))


def _read_sku(text: str) -> str:
    if not re.match(SKU_PATTERN, text):
        raise ValueError(text)
    return text


def _read_seq(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise ValueError(text)
    return int(text)
