"""Measurements, and the views that they compare with; nothing here is part of the product."""

import os
from pathlib import Path

STATE_DIR = Path(__file__).resolve().parent.parent / ".state" / "bench"


def django_ready() -> None:
    """Set Django up with servers of the benchmark's own, unless others are configured."""
    import django

    os.environ.setdefault("STATE_DIR", str(STATE_DIR))
    os.environ["DJANGO_SETTINGS_MODULE"] = "bench.settings"
    django.setup()
