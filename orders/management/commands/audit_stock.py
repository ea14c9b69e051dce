"""Check the books."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from inventory.exceptions import ProductNotFound
from orders.auditing import ProductAudit, audit


class Command(BaseCommand):
    """Check the books; exit with 1 and a line per breach."""

    help = "Check stock, orders, tallies and ledger against one another, and the ledger's hash chain."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the products; none for all."""
        parser.add_argument("skus", nargs="*", metavar="SKU")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *, skus: list[str], json: bool, **options: Any) -> None:  # what Django passes to every command
        """Print what was found."""
        try:
            products = audit(skus or None)
        except ProductNotFound as error:
            raise CommandError(f"there is no such product among: {', '.join(skus)}") from error
        is_clean = not any(product.breaches for product in products)
        if json:
            self._print_json(products, is_clean=is_clean)
        else:
            self._print(products, is_clean=is_clean)
        if not is_clean:
            sys.exit(1)

    def _print_json(self, products: list[ProductAudit], *, is_clean: bool) -> None:
        self.stdout.write(json.dumps({"clean": is_clean, "products": [asdict(product) for product in products]}))

    def _print(self, products: list[ProductAudit], *, is_clean: bool) -> None:
        for product in products:
            self.stdout.write(
                f"{product.sku}: {product.seeded} seeded, {product.adjusted:+d} adjusted = "
                f"{product.available} available + {product.held} held + {product.sold} sold"
            )
            for breach in product.breaches:
                self.stdout.write(f"  BREACH {breach}")
        count = "1 product" if len(products) == 1 else f"{len(products)} products"
        self.stdout.write(f"{count}: the books are {'exact' if is_clean else 'NOT exact'}.")
