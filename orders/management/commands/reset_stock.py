"""Begin a sale anew."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from inventory.exceptions import ProductNotFound
from inventory.models import Product
from orders import resetting


class Command(BaseCommand):
    """Cancel the live orders of products, and bring their stock back to what was seeded."""

    help = "Cancel every live order of these products and bring their stock back to what was seeded, by movements."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the products, or all."""
        parser.add_argument("skus", nargs="*", metavar="SKU")
        parser.add_argument("--all", action="store_true", dest="is_all", help="all products")
        parser.add_argument("--noinput", "--no-input", action="store_false", dest="is_asking", help="do not ask")
        parser.add_argument(
            "--delete", action="store_true", dest="is_deleting", help="with --all: empty a development site (DEBUG)"
        )

    def handle(
        self,
        *,
        skus: list[str],
        is_all: bool,
        is_asking: bool,
        is_deleting: bool,
        **options: Any,  # Django's own
    ) -> None:
        """Reset, after asking."""
        if bool(skus) == is_all:
            raise CommandError("name products, or say --all")
        if is_deleting:
            self._delete(is_all=is_all, is_asking=is_asking)
            return
        names = list(Product.objects.order_by("sku").values_list("sku", flat=True)) if is_all else skus
        self._ask(f"Cancel every live order of {', '.join(names) or 'no product'}?", is_asking=is_asking)
        try:
            done = resetting.reset(names)
        except ProductNotFound as error:
            raise CommandError(f"there is no such product among: {', '.join(skus)}") from error
        except resetting.SaleGoesOn as error:
            raise CommandError(str(resetting.SaleGoesOn.__doc__)) from error
        for product in done:
            self.stdout.write(f"{product.sku}: {product.cancelled} orders cancelled, {product.available} available")

    def _delete(self, *, is_all: bool, is_asking: bool) -> None:
        if not is_all:
            raise CommandError("--delete empties everything: say --all too")
        if not settings.DEBUG:
            raise CommandError("--delete is for development: it needs DEBUG=1")
        self._ask("Delete all products, orders and ledgers for good?", is_asking=is_asking)
        resetting.delete_everything()
        self.stdout.write("Products, orders and ledgers are empty.")

    def _ask(self, question: str, *, is_asking: bool) -> None:
        if not is_asking:
            return
        if not sys.stdin.isatty():
            raise CommandError("nobody can be asked here: say --noinput")
        if input(f"{question} [yes/no] ") != "yes":
            raise CommandError("nothing was changed")
