"""Bring up the servers of the tests before pytest-django reads the settings: `-p tests.servers` loads this first.

They live in a directory of their own below STATE_DIR, so no test ever meets what a developer has sold. REDIS_URL is not
used, for tests empty their Valkey; with DATABASE_URL they make a database of their own beside the one it names.
"""

import os

from config import embedded

os.environ.pop("REDIS_URL", None)
os.environ["STATE_DIR"] = str(embedded.state_dir() / "test")
embedded.ensure_running()
