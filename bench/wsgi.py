"""The WSGI application of the benchmark."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")

from config.wsgi import application

__all__ = ["application"]
