"""Orders, their lines, and how many units each buyer has of each product."""

from django.db import models
from django.db.models import F, Q
from uuid_utils.compat import uuid7

from inventory.models import CURRENCY_PATTERN, IDENTIFIER_LENGTH_MAX, Product

FINGERPRINT_LENGTH_MAX = 64


class OrderQuerySet(models.QuerySet["Order"]):
    """Queries over orders."""

    def of_buyer(self, buyer: str) -> "OrderQuerySet":
        """Keep the orders of one buyer."""
        return self.filter(buyer=buyer)

    def of_product(self, sku: str) -> "OrderQuerySet":
        """Keep the orders that have a line of a product."""
        return self.filter(id__in=OrderLine.objects.filter(product__sku=sku).values("order_id"))

    def live(self) -> "OrderQuerySet":
        """Keep the orders that hold units: reserved and confirmed."""
        return self.filter(status__in=Order.LIVE)

    def with_lines(self) -> "OrderQuerySet":
        """Load lines and their products with two further queries, however many orders there are."""
        return self.prefetch_related(models.Prefetch("lines", OrderLine.objects.with_product()))

    def newest_first(self) -> "OrderQuerySet":
        """Order by id, which is by time: ids are UUIDv7."""
        return self.order_by("-id")


class Order(models.Model):
    """What a buyer got. One `(buyer, request_id)` makes at most one order, for ever."""

    class Status(models.TextChoices):
        """Where an order stands; `orders.lifecycle` holds every transition."""

        RESERVED = "reserved"
        CONFIRMED = "confirmed"
        CANCELLED = "cancelled"
        EXPIRED = "expired"

    LIVE = (Status.RESERVED, Status.CONFIRMED)

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    buyer = models.CharField(max_length=IDENTIFIER_LENGTH_MAX)
    request_id = models.CharField(max_length=IDENTIFIER_LENGTH_MAX)
    fingerprint = models.CharField(max_length=FINGERPRINT_LENGTH_MAX)
    status = models.CharField(max_length=9, choices=Status)
    total = models.DecimalField(max_digits=18, decimal_places=2)
    currency = models.CharField(max_length=3)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True)
    cancelled_at = models.DateTimeField(null=True)
    expired_at = models.DateTimeField(null=True)

    objects = OrderQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["buyer", "request_id"], name="order_one_per_buyer_and_request_id"),
            models.CheckConstraint(condition=Q(total__gte=0), name="order_total_is_not_negative"),
            models.CheckConstraint(
                condition=Q(currency__regex=CURRENCY_PATTERN.replace(r"\Z", "$")),
                name="order_currency_is_three_letters",
            ),
            models.CheckConstraint(
                condition=Q(status="reserved", confirmed_at=None, cancelled_at=None, expired_at=None)
                | Q(status="confirmed", confirmed_at__isnull=False, cancelled_at=None, expired_at=None)
                | Q(status="cancelled", cancelled_at__isnull=False, expired_at=None)
                | Q(status="expired", confirmed_at=None, cancelled_at=None, expired_at__isnull=False),
                name="order_status_and_times_agree",
            ),
        ]
        indexes = [models.Index(fields=["buyer", "id"], name="order_by_buyer")]

    def __str__(self) -> str:
        return str(self.id)


class OrderLineQuerySet(models.QuerySet["OrderLine"]):
    """Queries over order lines."""

    def with_product(self) -> "OrderLineQuerySet":
        """Join the product, and order by sku, as answers show them."""
        return self.select_related("product").order_by("product__sku")


class OrderLine(models.Model):
    """Units of one product in one order, at the price of the moment it was placed."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="lines", db_index=False)
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="order_lines")
    quantity = models.PositiveIntegerField()
    unit_price = models.DecimalField(max_digits=12, decimal_places=2)

    objects = OrderLineQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["order", "product"], name="line_one_per_order_and_product"),
            models.CheckConstraint(condition=Q(quantity__gte=1), name="line_quantity_is_at_least_one"),
            models.CheckConstraint(condition=Q(unit_price__gte=0), name="line_price_is_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} x {self.product_id}"


class BuyerTally(models.Model):
    """The units a buyer has of a product in reserved and confirmed orders.

    `limit` is the product's limit at the buyer's last placing. A return never touches it, so lowering a product's
    limit takes nothing from anybody.
    """

    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="tallies", db_index=False)
    buyer = models.CharField(max_length=IDENTIFIER_LENGTH_MAX)
    units = models.PositiveIntegerField()
    limit = models.PositiveIntegerField(null=True)

    class Meta:
        verbose_name_plural = "buyer tallies"
        constraints = [
            models.UniqueConstraint(fields=["product", "buyer"], name="tally_one_per_product_and_buyer"),
            models.CheckConstraint(condition=Q(units__gte=0), name="tally_units_are_not_negative"),
            models.CheckConstraint(
                condition=Q(limit=None) | Q(units__lte=F("limit")), name="tally_units_are_in_the_limit"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.buyer}: {self.units} of {self.product_id}"
