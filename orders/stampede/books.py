"""The books of the site that is stormed: its own database, or all that the API of a site elsewhere tells."""

import json
from collections.abc import Sequence
from decimal import Decimal
from http import HTTPStatus
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin
from urllib.request import Request, urlopen

from django.db import connection

from inventory import services
from inventory.models import Admission, Stock
from orders.auditing import audit
from orders.stampede.plan import NONE, Plan
from orders.stampede.site import SiteError

PRICE = Decimal("19.90")
CALL_SECONDS = 30.0
GENESIS = "0" * 64


class Books(Protocol):
    """Where products come from, and what is judged in the end."""

    def open_sale(self, plan: Plan) -> None:
        """Make and seed the products."""

    def available(self, plan: Plan) -> int:
        """Give the units that are left."""

    def breaches(self, plan: Plan) -> list[str]:
        """Name what is wrong with the books."""


class OwnBooks:
    """The books of this database."""

    def open_sale(self, plan: Plan) -> None:
        """Make and seed the products."""
        admission = Admission.DIRECT if plan.admission == NONE else plan.admission
        for sku in plan.skus:
            services.create_product(sku=sku, name="Stampede", price=PRICE, limit_per_buyer=1, admission=admission)
            services.seed(sku=sku, available=plan.stock, request_id=plan.run, actor="stampede")
        # The database may be restarted during the rush, on purpose: the next question takes a connection that works.
        connection.close()

    def available(self, plan: Plan) -> int:
        """Give the units that are left."""
        return sum(Stock.objects.filter(product__sku__in=plan.skus).values_list("available", flat=True))

    def breaches(self, plan: Plan) -> list[str]:
        """Audit the products."""
        return [breach for product in audit(plan.skus) for breach in product.breaches]


class RemoteBooks:
    """The books of a site elsewhere, through its API with a token for `stock:write`."""

    def __init__(self, *, url: str, token: str) -> None:
        """Aim at a site."""
        self._url = f"{url}/api/v1/products/"
        self._token = token

    def open_sale(self, plan: Plan) -> None:
        """Make and seed the products."""
        for sku in plan.skus:
            product = {"sku": sku, "name": "Stampede", "price": str(PRICE), "admission": plan.admission}
            self._call("POST", "", product)
            self._call("PUT", f"{sku}/stock/", {"available": plan.stock, "request_id": plan.run})

    def available(self, plan: Plan) -> int:
        """Give the units that are left."""
        return sum(self._call("GET", f"{sku}/")["available"] for sku in plan.skus)

    def breaches(self, plan: Plan) -> list[str]:
        """Follow each product's ledger from its first entry to its stock."""
        return [breach for sku in plan.skus for breach in self._breaches(sku)]

    def _breaches(self, sku: str) -> list[str]:
        found, balance, previous = [], 0, GENESIS
        for number, entry in enumerate(self._entries(sku), start=1):
            if entry["seq"] != number or entry["previous_hash"] != previous:
                found.append(f"{sku}: movement {entry['seq']} does not follow the one before it")
            balance, previous = balance + entry["delta"], entry["hash"]
            if entry["balance_after"] != balance or balance < 0:
                found.append(f"{sku}: movement {entry['seq']} says balance {entry['balance_after']}, it is {balance}")
        available = self._call("GET", f"{sku}/")["available"]
        if available != balance:
            found.append(f"{sku}: {available} units are available, the movements sum up to {balance}")
        return found

    def _entries(self, sku: str) -> Sequence[dict[str, Any]]:  # documents of the API
        entries, address = [], f"{sku}/movements/?page_size=200"
        while address:
            page = self._call("GET", address)
            entries += page["results"]
            address = page["next"] or ""
        return entries[::-1]

    def _call(self, method: str, address: str, body: object = None) -> Any:  # a document of the API
        url = urljoin(self._url, address)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            request = Request(url, data=data, headers=headers, method=method)  # noqa: S310 - the operator's own URL
            with urlopen(request, timeout=CALL_SECONDS) as answer:  # noqa: S310 - the operator's own URL
                return json.loads(answer.read())
        except HTTPError as error:
            raise SiteError(f"{method} {url}: {error.code} {HTTPStatus(error.code).phrase}") from error
        except (URLError, OSError, ValueError) as error:
            raise SiteError(f"{method} {url}: {error}") from error
