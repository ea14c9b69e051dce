"""The one door to stock: lock the rows, move units in memory, write the movements and the rows they lead to.

Everything that changes a number of stock (placing, returning, seeding, adjusting) takes these steps inside one
transaction, which the caller opens. The lock order of the whole system is kept here: stock rows by primary key, first.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from inventory.exceptions import InsufficientStock
from inventory.models import StockMovement


class Movement(msgspec.Struct, frozen=True):
    """An entry of a product's ledger, with its place in the hash chain."""

    product_id: int
    seq: int
    kind: str
    delta: int
    balance_after: int
    note: str
    actor: str
    request_id: str | None
    order_id: UUID | None
    created_at: datetime
    previous_hash: bytes
    hash: bytes


def chain_hash(previous_hash: bytes, *fields: int | str | UUID | None, created_at: datetime) -> bytes:
    """Chain an entry to the one before it: SHA-256 over the previous hash and the entry as a JSON array.

    The array is compact UTF-8 JSON: product_id, seq, kind, delta, balance_after, note, actor, request_id, order_id,
    created_at; the time as RFC 3339 in UTC with six decimals. Anybody can check it with a dozen lines of any language.
    """
    time = created_at.astimezone(UTC).isoformat(timespec="microseconds")
    return hashlib.sha256(previous_hash + msgspec.json.encode((*fields, time))).digest()


class StockRow(msgspec.Struct):
    """A stock row under its lock, with what its product says; changed here first, then brought home by `write`."""

    product_id: int
    sku: str
    price: Decimal
    currency: str
    limit_per_buyer: int | None
    hold_seconds: int | None
    opens_at: datetime | None
    closes_at: datetime | None
    active: bool
    admission: str
    available: int
    held: int
    orders_total: int
    version: int
    ledger_seq: int
    ledger_hash: bytes

    @property
    def was_seeded(self) -> bool:
        """Tell whether the product's ledger has begun."""
        return self.ledger_seq > 0

    def move(
        self,
        *,
        kind: StockMovement.Kind,
        delta: int,
        actor: str,
        now: datetime,
        note: str = "",
        request_id: str | None = None,
        order_id: UUID | None = None,
    ) -> Movement:
        """Move `delta` units in or out and give the ledger's entry for it; raise InsufficientStock below zero."""
        balance = self.available + delta
        if balance < 0:
            raise InsufficientStock(available=self.available)
        seq = self.ledger_seq + 1
        fields = (self.product_id, seq, kind.value, delta, balance, note, actor, request_id, order_id)
        previous_hash = self.ledger_hash
        self.available = balance
        self.ledger_seq = seq
        self.ledger_hash = chain_hash(previous_hash, *fields, created_at=now)
        return Movement(*fields, now, previous_hash, self.ledger_hash)


class Locked(msgspec.Struct, frozen=True):
    """What `lock` found: the rows by sku, and the clock read after the lock."""

    rows: dict[str, StockRow]
    now: datetime


# The columns of READ_SQL, in the order of the fields; the last is a memoryview.
def _row(*columns: Any) -> StockRow:
    return StockRow(*columns[:-1], bytes(columns[-1]))  # type: ignore[call-arg]  # as many as there are fields


def lock(skus: Collection[str]) -> Locked:
    """Lock the stock rows of these products in the system's order, then read them; two statements.

    The rows are read by a statement of their own: a row joined to the locking statement is older than the lock, for
    READ COMMITTED re-reads the locked row alone. A sku without a product is left out.
    """
    # Both are sent before either is waited for: in a pipeline that is one round trip.
    with connection.cursor() as locking, connection.cursor() as reading:
        locking.execute(LOCK_SQL, [list(skus)])
        reading.execute(READ_SQL, [list(skus)])
        locking.fetchall()
        rows = reading.fetchall()
    return Locked({row[1]: _row(*row[:-1]) for row in rows if row[1] is not None}, rows[0][-1])


LOCK_SQL = """
    SELECT stock.product_id
    FROM inventory_stock AS stock JOIN inventory_product AS product ON product.id = stock.product_id
    WHERE product.sku = ANY(%s)
    ORDER BY stock.product_id
    FOR UPDATE OF stock
"""
# An outer join: the clock is needed also where no product is found.
READ_SQL = """
    WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS now)
    SELECT product.id, product.sku, product.price, product.currency, product.limit_per_buyer, product.hold_seconds,
           product.opens_at, product.closes_at, product.active, product.admission, stock.available, stock.held,
           stock.orders_total, stock.version, stock.ledger_seq, stock.ledger_hash, moment.now
    FROM moment
    LEFT JOIN (inventory_product AS product JOIN inventory_stock AS stock ON product.id = stock.product_id)
        ON product.sku = ANY(%s)
"""


def write(movements: Sequence[Movement], rows: Iterable[StockRow]) -> None:
    """Append the movements and write the stock rows, each one version further; two statements."""
    with connection.cursor() as cursor:
        cursor.execute(APPEND_SQL, [msgspec.json.encode(movements).decode()])
        cursor.execute(WRITE_SQL, [msgspec.json.encode(list(rows)).decode()])


APPEND_SQL = """
    INSERT INTO inventory_stockmovement (product_id, seq, kind, delta, balance_after, note, actor, request_id, order_id,
                                         created_at, previous_hash, hash)
    SELECT product_id, seq, kind, delta, balance_after, note, actor, request_id, order_id, created_at,
           decode(previous_hash, 'base64'), decode(hash, 'base64')
    FROM json_to_recordset(%s::json) AS entry (
        product_id bigint, seq bigint, kind text, delta int, balance_after int, note text, actor text, request_id text,
        order_id uuid, created_at timestamptz, previous_hash text, hash text)
"""
WRITE_SQL = """
    UPDATE inventory_stock AS stock
    SET available = changed.available, held = changed.held, orders_total = changed.orders_total,
        ledger_seq = changed.ledger_seq, ledger_hash = decode(changed.ledger_hash, 'base64'),
        version = stock.version + 1
    FROM json_to_recordset(%s::json) AS changed (
        product_id bigint, available int, held int, orders_total bigint, ledger_seq bigint, ledger_hash text)
    WHERE stock.product_id = changed.product_id
"""


def entry_of(product_id: int, request_id: str) -> Movement | None:
    """Find the entry that a staff request has made; the caller holds the product's lock."""
    found = StockMovement.objects.filter(product_id=product_id, request_id=request_id).order_by("seq").first()
    return None if found is None else from_model(found)


def from_model(entry: StockMovement) -> Movement:
    """Give a stored entry as the ledger's own value."""
    values = {name: getattr(entry, name) for name in Movement.__struct_fields__}
    return Movement(**values | {"previous_hash": bytes(entry.previous_hash), "hash": bytes(entry.hash)})
