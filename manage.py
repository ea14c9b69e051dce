#!/usr/bin/env python
"""Run Django's commands; the embedded PostgreSQL and Valkey are brought up first."""

import os
import sys

from django.core.management import execute_from_command_line

from config import embedded


def main() -> None:
    """Start what is embedded, then hand over to Django."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] != ["services"]:
        try:
            embedded.ensure_running()
        except embedded.ServiceError as error:
            sys.exit(str(error))
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
