"""Figures over HTTP: each is a rate of answers, and its ratio to the floor of the same round."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from bench import load
from inventory import services
from inventory.models import Admission
from orders.auditing import audit
from orders.stampede.site import own_site

CONNECTIONS = 64
WORKERS = 2
WARM_SECONDS = 1.0
#: More than any figure can use up in its seconds.
REQUESTS_PER_SECOND_MAX = 6000


@dataclass(frozen=True)
class Figure:
    """Something to measure: where the load goes, and the answer that counts."""

    name: str
    path: str
    status: int
    threads: int
    stock: int = services.UNITS_MAX
    admission: Admission = Admission.DIRECT
    requests_per_second_max: int = REQUESTS_PER_SECOND_MAX


FLOOR = Figure("floor: an empty view behind the same token check and throttle", "/bench/floor/", 201, threads=4)
SINGLE = Figure("accepted, one transaction per order", "/bench/single/", 201, threads=16, requests_per_second_max=2500)
ACCEPTED = Figure("accepted orders, direct (group commit)", "/bench/orders/", 201, threads=32)
FIGURES = [
    FLOOR,
    ACCEPTED,
    Figure("sold-out answers, direct", "/bench/orders/", 409, threads=32, stock=0),
    Figure(
        "accepted orders, lock",
        "/bench/orders/",
        201,
        threads=32,
        admission=Admission.LOCK,
        requests_per_second_max=1500,
    ),
    SINGLE,
    Figure("accepted, plain ORM view", "/bench/orm/", 201, threads=16, requests_per_second_max=1500),
]


def measure(figure: Figure, *, seconds: float) -> float:
    """Measure once, on web workers started for it, and check the books afterwards; give answers per second."""
    sku = f"bench-{uuid.uuid4().hex[:10]}"
    services.create_product(sku=sku, name="Bench", price=Decimal("19.90"), admission=figure.admission)
    services.seed(sku=sku, available=figure.stock, request_id=sku, actor="bench")
    with own_site(project="bench", workers=WORKERS, threads=figure.threads) as url:
        answered = load.run(
            load.Load(
                port=int(url.rpartition(":")[2]),
                path=figure.path,
                sku=sku,
                name=sku,
                connections=CONNECTIONS,
                warm_seconds=WARM_SECONDS,
                seconds=seconds,
                requests_max=int(figure.requests_per_second_max * (seconds + WARM_SECONDS)),
            )
        )
    breaches = [breach for product in audit([sku]) for breach in product.breaches]
    if breaches:
        raise AssertionError(f"{figure.name}: {breaches[0]}")
    return answered.per_second(figure.status)


def median(values: Sequence[float]) -> float:
    """Give the middle value."""
    return sorted(values)[len(values) // 2]
