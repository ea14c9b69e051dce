#!/usr/bin/env python
"""Run Django's commands; the embedded PostgreSQL and Valkey are brought up first."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError, ProgrammingError

from config import embedded

#: Commands that need no server, and must work while one cannot start.
NEED_NOTHING = {"services", "help", "version", "--help", "--version"}

UNDEFINED_TABLE = "42P01"


def main() -> None:
    """Start what is embedded, hand over to Django, and say in one line what a person can mend."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        if not NEED_NOTHING.intersection(sys.argv[1:2]):
            embedded.ensure_running()
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, embedded.ServiceError) as error:
        sys.exit(f"Error: {error}")
    except OperationalError as error:
        reason = " ".join(str(error).split())
        sys.exit(f"Error: PostgreSQL cannot be used: {reason}")
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", None) != UNDEFINED_TABLE:
            raise
        sys.exit("Error: the tables are not there yet: run manage.py migrate first.")


if __name__ == "__main__":
    main()
