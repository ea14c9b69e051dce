"""The API of products: public to read, changed by staff."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from access.permissions import MayWriteStockOrRead
from access.schema import refuses
from inventory import documents, openapi, parsing, services
from inventory.api import ANY_ETAG, PAGING, JsonView, etag_of, if_match, page, respond, respond_if_changed
from inventory.exceptions import ProductNotFound
from inventory.models import SKU_PATTERN, Product

_product_body = msgspec.json.Decoder(documents.ProductBody)
_product_changes = msgspec.json.Decoder(documents.ProductChanges)


class OfProduct(JsonView):
    """A view below a product's address."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:  # from the URL
        """Refuse a sku that none can be, once it is clear that the caller may ask."""
        super().initial(request, *args, **kwargs)
        if not is_sku(kwargs["sku"]):
            raise ProductNotFound


class Products(JsonView):
    """The list of products."""

    permission_classes = (MayWriteStockOrRead,)
    parameters = PAGING

    @extend_schema(
        operation_id="list_products",
        summary="List products",
        parameters=[*openapi.PAGES, openapi.IF_NONE_MATCH, openapi.ETAG_OF_DOCUMENT],
        responses={200: openapi.schema("ProductPage"), 304: None},
        auth=openapi.NO_TOKEN_NEEDED,
        examples=[openapi.answered("A page", {"next": None, "results": [openapi.PRODUCT]})],
    )
    @refuses("not_authenticated")
    def get(self, request: Request) -> HttpResponse:
        """Show all products by sku, each with its stock of this moment. No token is needed."""
        products = Product.objects.with_stock()
        found, next_page = page(request, products, key="sku", query=self.query(), read_cursor=_read_sku)
        rows = [documents.product_document(product) for product in found]
        return respond_if_changed(request, documents.ProductPage(next=next_page, results=rows))

    @extend_schema(
        operation_id="create_product",
        summary="Create a product",
        parameters=[openapi.LOCATION],
        request=openapi.body("ProductBody"),
        responses={201: openapi.schema("ProductDocument")},
        examples=[
            openapi.sent("A product", {"sku": "tee-red", "name": "Red tee", "price": "19.90", "limit": 1}),
            openapi.answered("The product", openapi.PRODUCT | {"opens_at": None, "available": 0}, status=201),
        ],
    )
    @refuses(*openapi.OF_STAFF, *openapi.OF_BODIES, "sku_taken")
    def post(self, request: Request) -> HttpResponse:
        """Create a product and its empty stock. Needs the scope `stock:write`.

        The price is a decimal string; a JSON number is refused, for it may have lost a digit on its way.
        """
        body = parsing.parse(_product_body, self.body())
        services.create_product(**documents.fields_of(body))
        document = document_of(body.sku)
        headers = {"Location": f"{request.path}{body.sku}/", "ETag": etag_of(document)}
        return respond(document, status=201, headers=headers)


class ProductDetail(OfProduct):
    """One product."""

    permission_classes = (MayWriteStockOrRead,)

    @extend_schema(
        operation_id="show_product",
        summary="Show a product",
        parameters=[openapi.SKU, openapi.IF_NONE_MATCH, openapi.ETAG_OF_DOCUMENT],
        responses={200: openapi.schema("ProductDocument"), 304: None},
        auth=openapi.NO_TOKEN_NEEDED,
        examples=[openapi.answered("The product", openapi.PRODUCT)],
    )
    @refuses("not_authenticated", "not_found")
    def get(self, request: Request, sku: str) -> HttpResponse:
        """Show a product, with its stock of this moment. No token is needed."""
        return respond_if_changed(request, document_of(sku))

    @extend_schema(
        operation_id="change_product",
        summary="Change a product",
        parameters=[openapi.SKU, openapi.IF_MATCH_PRODUCT, openapi.ETAG_OF_DOCUMENT],
        request=openapi.body("ProductChanges"),
        responses={200: openapi.schema("ProductDocument")},
        examples=[
            openapi.sent("A new name", {"name": "Red tee, organic"}),
            openapi.answered("The product", openapi.PRODUCT | {"name": "Red tee, organic"}),
        ],
    )
    @refuses(*openapi.OF_STAFF, *openapi.OF_BODIES, "not_found", "precondition_failed")
    def patch(self, request: Request, sku: str) -> HttpResponse:
        """Change what a product says; what is left out stays, and so does its stock. Needs the scope `stock:write`."""
        changes = documents.fields_of(parsing.parse(_product_changes, self.body()))
        services.update_product(sku=sku, is_current=_is_current(if_match(request)), **changes)
        document = document_of(sku)
        return respond(document, headers={"ETag": etag_of(document)})


def document_of(sku: str) -> documents.ProductDocument:
    """Show a product; raise ProductNotFound."""
    product = Product.objects.with_stock().filter(sku=sku).first()
    if product is None:
        raise ProductNotFound
    return documents.product_document(product)


def is_sku(text: str) -> bool:
    """Tell whether a text can be a sku."""
    return re.match(SKU_PATTERN, text) is not None


def _is_current(etags: list[str] | None) -> Callable[[Product], bool] | None:
    if etags is None or ANY_ETAG in etags:
        return None
    return lambda product: etag_of(documents.product_document(product)) in etags


def _read_sku(text: str) -> str:
    if not is_sku(text):
        raise ValueError(text)
    return text
