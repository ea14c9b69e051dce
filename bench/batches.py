"""`place()` alone, without HTTP, beside a raw-SQL batch that writes the same rows."""

import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import msgspec
import psycopg
from django.conf import settings
from uuid_utils.compat import uuid7

from inventory import ledger, services
from inventory.models import Product
from orders import books, placing
from orders.command import PlaceOrder, merge_lines

SIZES = (1, 10, 50, 200)
ROUNDS = 15
PRICE = Decimal("19.90")


def measure(size: int) -> tuple[float, float]:
    """Give orders per second of `place()` and of raw SQL, at one size of batch: medians of rounds that take turns."""
    sku = f"batch-{uuid.uuid4().hex[:10]}"
    product = services.create_product(sku=sku, name="Batch", price=PRICE)
    services.seed(sku=sku, available=services.UNITS_MAX, request_id=sku, actor="bench")
    raw_product = services.create_product(sku=f"{sku}-raw", name="Batch", price=PRICE)
    services.seed(sku=raw_product.sku, available=services.UNITS_MAX, request_id=sku, actor="bench")
    placed, written = [], []
    with psycopg.connect(_conninfo()) as raw:
        for number in range(ROUNDS + 2):
            batch = [_command(product.sku) for _ in range(size)]
            placed.append(_seconds(lambda batch=batch: placing.place(batch)))  # type: ignore[misc]  # run at once
            rows = _rows(raw_product, size, number)
            written.append(_seconds(lambda rows=rows: _write(raw, raw_product.pk, rows)))  # type: ignore[misc]  # run at once
    return size / _median(placed[2:]), size / _median(written[2:])


def _seconds(work: Callable[[], object]) -> float:
    started_at = time.perf_counter()
    work()
    return time.perf_counter() - started_at


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _command(sku: str) -> PlaceOrder:
    return PlaceOrder(uuid.uuid4().hex, uuid.uuid4().hex, merge_lines([(sku, 1)]))


Rows = list[tuple[str, str]]


def _rows(product: Product, size: int, number: int) -> Rows:
    """Make the rows of a batch beforehand: statements of the product, each with its rows as JSON."""
    now = datetime.now(UTC)
    seq, available = 2 + number * size, services.UNITS_MAX - number * size
    order_rows, line_rows, tally_rows, movement_rows = [], [], [], []
    for index in range(size):
        order_id, buyer = uuid7(), uuid.uuid4().hex
        order_rows.append(
            {
                "id": order_id,
                "buyer": buyer,
                "request_id": uuid.uuid4().hex,
                "fingerprint": f"v1:{uuid.uuid4().hex}",
                "status": "reserved",
                "total": PRICE,
                "currency": "EUR",
                "created_at": now,
                "expires_at": now + timedelta(seconds=900),
                "confirmed_at": None,
            }
        )
        line_rows.append({"order_id": order_id, "product_id": product.pk, "quantity": 1, "unit_price": PRICE})
        tally_rows.append({"product_id": product.pk, "buyer": buyer, "units": 1, "max": 1})
        fields = (product.pk, seq + index, "placed", -1, available - index - 1, "", buyer, None, order_id)
        movement_rows.append(ledger.Movement(*fields, now, bytes(32), bytes(32)))
    stock_row = {
        "product_id": product.pk,
        "available": available - size,
        "held": (number + 1) * size,
        "orders_total": (number + 1) * size,
        "ledger_seq": seq + size - 1,
        "ledger_hash": bytes(32),
    }
    statements = [
        (books.ORDERS_INSERT, order_rows),
        (books.LINES_INSERT, line_rows),
        (books.TALLIES_UPSERT, tally_rows),
        (ledger.APPEND_SQL, movement_rows),
        (ledger.WRITE_SQL, [stock_row]),
    ]
    return [(statement, msgspec.json.encode(rows).decode()) for statement, rows in statements]


def _write(raw: psycopg.Connection, product_id: int, rows: Rows) -> None:
    """Lock one row, write the batch, commit."""
    raw.execute("SELECT FROM inventory_stock WHERE product_id = %s FOR UPDATE", [product_id])
    for statement, parameters in rows:
        raw.execute(statement, [parameters])
    raw.commit()


def _conninfo() -> str:
    database = settings.DATABASES["default"]
    parts = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    return psycopg.conninfo.make_conninfo(**{name: database[key] for name, key in parts.items() if database[key]})
