"""The memory of web workers over many orders: flat, or a leak."""

import uuid
from decimal import Decimal

import psutil

from bench import load
from bench.figures import CONNECTIONS, WORKERS
from inventory import services
from orders.stampede.site import own_site

#: Sampled after warming up: interpreter, pools and caches fill once.
SAMPLES = (10_000, 50_000, 100_000)
SECONDS_MAX = 600.0
THREADS = 32
MIB = 1024 * 1024


def measure(samples: tuple[int, ...] = SAMPLES) -> dict[int, float]:
    """Give the resident memory of the largest web worker in MiB, after so many orders."""
    sku = f"memory-{uuid.uuid4().hex[:10]}"
    services.create_product(sku=sku, name="Memory", price=Decimal("19.90"))
    services.seed(sku=sku, available=services.UNITS_MAX, request_id=sku, actor="bench")
    found, before = {}, 0
    with own_site(project="bench", workers=WORKERS, threads=THREADS) as url:
        for orders in samples:
            load.run(
                load.Load(
                    port=int(url.rpartition(":")[2]),
                    path="/bench/orders/",
                    sku=sku,
                    name=f"{sku}-{orders}",
                    connections=CONNECTIONS,
                    warm_seconds=0.0,
                    seconds=SECONDS_MAX,
                    requests_max=orders - before,
                )
            )
            found[orders], before = _largest_worker_mib(), orders
    return found


def _largest_worker_mib() -> float:
    children = psutil.Process().children(recursive=True)
    sizes = [child.memory_info().rss for child in children if "granian" in " ".join(child.cmdline())]
    return max(sizes) / MIB
