"""Products, their stock, and the ledger of every unit that came or went."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

SKU_LENGTH_MAX = 64
SKU_PATTERN = r"^[A-Za-z0-9._-]{1,64}\Z"
SKU_RULE = "must be 1 to 64 of A-Z a-z 0-9 . _ -"
CURRENCY_PATTERN = r"^[A-Z]{3}\Z"
CURRENCY_RULE = "must be three capital letters, such as EUR"
#: A buyer, an actor or a request id; wide enough for any identifier of the system that sends the traffic.
IDENTIFIER_LENGTH_MAX = 128
NOTE_LENGTH_MAX = 500
HASH_BYTES = 32
GENESIS_HASH = bytes(HASH_BYTES)
LIMIT_DEFAULT = 1
HOLD_SECONDS_DEFAULT = 900


class Admission(models.TextChoices):
    """How an order comes to placing."""

    DIRECT = "direct", "direct: PostgreSQL alone, by group commit"
    LOCK = "lock", "lock: one distributed lock per product around placing"


class ProductQuerySet(models.QuerySet["Product"]):
    """Queries over products."""

    def with_stock(self) -> "ProductQuerySet":
        """Join the stock row, and order by sku."""
        return self.select_related("stock").order_by("sku")


class Product(models.Model):
    """Something that runs out. Its price and limit apply to orders placed from now on."""

    sku = models.CharField(max_length=SKU_LENGTH_MAX, unique=True, validators=[RegexValidator(SKU_PATTERN, SKU_RULE)])
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True, default="", max_length=10_000)
    price = models.DecimalField(max_digits=12, decimal_places=2, validators=[MinValueValidator(0)])
    currency = models.CharField(
        max_length=3, default="EUR", validators=[RegexValidator(CURRENCY_PATTERN, CURRENCY_RULE)]
    )
    limit_per_buyer = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=LIMIT_DEFAULT,
        validators=[MinValueValidator(1)],
        help_text="Units per buyer over all live orders. Empty: no limit.",
    )
    hold_seconds = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=HOLD_SECONDS_DEFAULT,
        validators=[MinValueValidator(1)],
        help_text="How long a reserved order keeps its units. Empty: a hold that never ends.",
    )
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    admission = models.CharField(max_length=8, choices=Admission, default=Admission.DIRECT)
    active = models.BooleanField(default=True, help_text="A withdrawn product takes no new orders.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects = ProductQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(sku__regex=SKU_PATTERN.replace(r"\Z", "$")), name="product_sku_is_plain"
            ),
            models.CheckConstraint(condition=Q(price__gte=0), name="product_price_is_not_negative"),
            models.CheckConstraint(
                condition=Q(currency__regex=CURRENCY_PATTERN.replace(r"\Z", "$")),
                name="product_currency_is_three_letters",
            ),
            models.CheckConstraint(condition=Q(limit_per_buyer__gte=1), name="product_limit_is_at_least_one"),
            models.CheckConstraint(condition=Q(hold_seconds__gte=1), name="product_hold_is_at_least_a_second"),
            models.CheckConstraint(condition=Q(closes_at__gt=F("opens_at")), name="product_closes_after_it_opens"),
            models.CheckConstraint(condition=Q(admission__in=Admission.values), name="product_admission_is_known"),
        ]

    def __str__(self) -> str:
        return self.sku

    def clean(self) -> None:
        """Say in words what the constraint on the window keeps."""
        if self.opens_at and self.closes_at and self.closes_at <= self.opens_at:
            raise ValidationError({"closes_at": "must be later than opens_at"})

    def is_open(self, *, now: datetime) -> bool:
        """Tell whether `now` is inside the sale's window: from `opens_at` on, up to but not at `closes_at`."""
        return (self.opens_at is None or self.opens_at <= now) and (self.closes_at is None or now < self.closes_at)


class Stock(models.Model):
    """The units of one product. Changed under its row lock only, by `inventory.ledger`, never typed over.

    `ledger_seq` and `ledger_hash` are the head of the product's ledger: cutting off the newest movements leaves a
    head that fits nothing.
    """

    product = models.OneToOneField(Product, on_delete=models.PROTECT, primary_key=True)
    available = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0, help_text="Units of reserved orders.")
    orders_total = models.PositiveBigIntegerField(default=0, help_text="Orders ever placed.")
    version = models.PositiveBigIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    ledger_seq = models.PositiveBigIntegerField(default=0)
    ledger_hash = models.BinaryField(max_length=HASH_BYTES, default=GENESIS_HASH)

    class Meta:
        verbose_name_plural = "stock"
        constraints = [
            models.CheckConstraint(condition=Q(available__gte=0), name="stock_available_is_not_negative"),
            models.CheckConstraint(condition=Q(held__gte=0), name="stock_held_is_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.product_id}: {self.available}"


class StockMovementQuerySet(models.QuerySet["StockMovement"]):
    """Queries over the ledger."""

    def newest_first(self) -> "StockMovementQuerySet":
        """Order by sequence number, the last one first."""
        return self.order_by("product_id", "-seq")


class StockMovement(models.Model):
    """One entry of a product's ledger: append-only, numbered without a gap, chained by hash.

    PostgreSQL itself refuses to change or delete an entry (a trigger of the first migration).
    """

    class Kind(models.TextChoices):
        """Why units came or went."""

        SEEDED = "seeded"
        ADJUSTED = "adjusted"
        PLACED = "placed"
        RETURNED = "returned"

    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="movements", db_index=False)
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=8, choices=Kind)
    delta = models.IntegerField()
    balance_after = models.PositiveIntegerField()
    note = models.CharField(max_length=NOTE_LENGTH_MAX, default="")
    actor = models.CharField(max_length=IDENTIFIER_LENGTH_MAX)
    # Null, not empty: any number of rows without one is unique.
    request_id = models.CharField(  # noqa: DJ001
        max_length=IDENTIFIER_LENGTH_MAX, null=True, help_text="Of staff; orders have none."
    )
    #: The order's id; the foreign key is made by the orders app, which stands above this one.
    order_id = models.UUIDField(null=True)
    created_at = models.DateTimeField()
    previous_hash = models.BinaryField(max_length=HASH_BYTES)
    hash = models.BinaryField(max_length=HASH_BYTES)

    objects = StockMovementQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["product", "seq"], name="movement_one_per_product_and_seq"),
            models.UniqueConstraint(fields=["product", "request_id"], name="movement_one_per_product_and_request_id"),
            models.UniqueConstraint(
                fields=["order_id", "product", "kind"], name="movement_one_per_order_product_and_direction"
            ),
            models.CheckConstraint(condition=~Q(delta=0), name="movement_delta_is_not_zero"),
            models.CheckConstraint(condition=Q(balance_after__gte=0), name="movement_balance_is_not_negative"),
            models.CheckConstraint(condition=Q(seq__gte=1), name="movement_seq_starts_at_one"),
            models.CheckConstraint(
                condition=Q(kind__in=["seeded", "adjusted"], order_id__isnull=True, request_id__isnull=False)
                | Q(kind="placed", order_id__isnull=False, delta__lt=0, request_id__isnull=True)
                | Q(kind="returned", order_id__isnull=False, delta__gt=0, request_id__isnull=True),
                name="movement_kind_and_order_agree",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.product_id} #{self.seq}: {self.kind} {self.delta:+d}"
