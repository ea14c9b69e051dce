"""What this process has learnt of products' admission, so that asking costs the hot path no query.

Every batch reads its products anyway. Stale word does no harm: every admission keeps every promise, and the next batch
brings the new word.
"""

from collections.abc import Iterable

from inventory.ledger import StockRow
from inventory.models import Admission

#: Of products; beyond it the oldest word is forgotten, and its product's next order goes the default way.
REMEMBERED_MAX = 10_000

_learnt: dict[str, str] = {}


def learn(rows: Iterable[StockRow]) -> None:
    """Remember the admission of these products."""
    for row in rows:
        if row.sku not in _learnt and len(_learnt) >= REMEMBERED_MAX:
            _learnt.pop(next(iter(_learnt)), None)
        _learnt[row.sku] = row.admission


def of(sku: str) -> str:
    """Give a product's admission; `direct` where nothing is known yet."""
    return _learnt.get(sku, Admission.DIRECT.value)
