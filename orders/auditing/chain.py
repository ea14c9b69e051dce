"""The ledger by itself: numbered without a gap, balanced at each step, each entry chained to the one before."""

from collections.abc import Iterator
from itertools import islice

from inventory.ledger import chain_hash
from inventory.models import GENESIS_HASH, Product, StockMovement

ROWS_PER_FETCH = 2000
#: Of one product: behind a broken link all that follows is broken too.
BREACHES_MAX = 5
HASHED = ("product_id", "seq", "kind", "delta", "balance_after", "note", "actor", "request_id", "order_id")


def breaches(product: Product) -> list[str]:
    """Name what is wrong with a product's ledger: at most BREACHES_MAX sentences."""
    return list(islice(_breaches(product), BREACHES_MAX))


def _breaches(product: Product) -> Iterator[str]:
    seq, balance, previous = 0, 0, GENESIS_HASH
    entries = StockMovement.objects.filter(product=product).order_by("seq")
    for entry in entries.values(*HASHED, "created_at", "previous_hash", "hash").iterator(ROWS_PER_FETCH):
        where = f"{product.sku}: movement {entry['seq']}"
        if entry["seq"] != seq + 1:
            yield f"{where} follows {seq}: entries are missing"
        if entry["balance_after"] != balance + entry["delta"]:
            yield f"{where} says balance {entry['balance_after']}, but {balance} {entry['delta']:+d} was moved"
        if bytes(entry["previous_hash"]) != previous:
            yield f"{where} is not chained to the one before it"
        fields = [entry[name] for name in HASHED]
        if chain_hash(bytes(entry["previous_hash"]), *fields, created_at=entry["created_at"]) != bytes(entry["hash"]):
            yield f"{where} was changed: its hash is another"
        seq, balance, previous = entry["seq"], entry["balance_after"], bytes(entry["hash"])
    stock = product.stock
    if (stock.ledger_seq, bytes(stock.ledger_hash)) != (seq, previous):
        yield f"{product.sku}: the stock row knows {stock.ledger_seq} movements, the ledger ends with {seq}"
