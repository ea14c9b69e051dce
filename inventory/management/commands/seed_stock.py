"""Seed a product's stock."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.dateparse import parse_datetime

from inventory import services
from inventory.exceptions import Invalid, Refusal, SkuTaken, StockVersionRequired
from inventory.models import Admission, Product

ACTOR = "command"
NONE = "none"
#: What a product that is made here says where nothing else is asked for.
PRICE_DEFAULT = Decimal("0.00")


class Command(BaseCommand):
    """Make a product if it is missing, and seed its stock by a movement."""

    help = "Make the product if missing, and seed QUANTITY units by a movement. What was seeded before stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the product, the units, and what a new product says."""
        parser.add_argument("sku", metavar="SKU")
        parser.add_argument("quantity", metavar="QUANTITY", type=_whole)
        parser.add_argument("--name", help="of a new product; default: its sku")
        parser.add_argument("--price", type=_price, help="of a new product, such as 19.90; default: free")
        parser.add_argument("--currency", help="of a new product; default: EUR")
        parser.add_argument("--limit", type=_positive_or_none, help="units per buyer, or none; default: 1")
        parser.add_argument("--hold-seconds", type=_positive_or_none, help="of a hold, or none; default: 900")
        parser.add_argument("--opens-at", type=_moment, help="such as 2030-05-01T18:00:00Z")
        parser.add_argument("--closes-at", type=_moment)
        parser.add_argument("--admission", choices=Admission.values)
        parser.add_argument("--request-id", help="repeating the command with it seeds once")
        parser.add_argument("--force", action="store_true", help="bring an already seeded stock to QUANTITY")

    def handle(
        self,
        *,
        sku: str,
        quantity: int,
        request_id: str | None,
        force: bool,
        **options: Any,  # the product's fields
    ) -> None:
        """Seed, and say what was done."""
        try:
            self._make(sku, options)
            change = services.seed(
                sku=sku,
                available=quantity,
                request_id=request_id or services.new_request_id(),
                actor=ACTOR,
                if_versions=services.ANY if force else None,
            )
        except StockVersionRequired:
            self.stdout.write(f"{sku} was seeded before: nothing was changed; --force brings it to {quantity}.")
            return
        except Invalid as error:
            raise CommandError("; ".join(f"{pointer[1:]} {detail}" for pointer, detail in error.errors)) from error
        except Refusal as error:
            raise CommandError(error.sentence) from error
        self.stdout.write(self._sentence(sku, change))

    def _make(self, sku: str, options: dict[str, Any]) -> None:
        """Make the product; one that another process has made meanwhile is as good."""
        if Product.objects.filter(sku=sku).exists():
            return
        fields: dict[str, Any] = {"name": options["name"] or sku, "price": PRICE_DEFAULT}
        names = {"limit": "limit_per_buyer"}
        for name in ("price", "currency", "limit", "hold_seconds", "opens_at", "closes_at", "admission"):
            if options[name] is not None:
                fields[names.get(name, name)] = None if options[name] == NONE else options[name]
        try:
            services.create_product(sku=sku, **fields)
        except SkuTaken:
            return

    def _sentence(self, sku: str, change: services.StockChange) -> str:
        if change.replayed:
            return f"{sku}: this request was done already; {change.available} available now."
        if change.movement is None:
            return f"{sku}: {change.available} available already, nothing had to move."
        return f"{sku}: {change.movement.delta:+d} units, {change.available} available."


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"{text!r} is not a number of units")
    return int(text)


def _positive_or_none(text: str) -> int | str:
    if text == NONE:
        return text
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ArgumentTypeError(f"{text!r} is neither a positive whole number nor {NONE}")
    return int(text)


def _price(text: str) -> Decimal:
    try:
        price = Decimal(text)
    except InvalidOperation:
        raise ArgumentTypeError(f"{text!r} is not a price such as 19.90") from None
    if not price.is_finite():
        raise ArgumentTypeError(f"{text!r} is not a price such as 19.90")
    return price


def _moment(text: str) -> datetime:
    """Read RFC 3339; a time without a zone is UTC."""
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None:
        raise ArgumentTypeError(f"{text!r} is not a time such as 2030-05-01T18:00:00Z")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
