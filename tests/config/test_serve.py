"""`manage.py serve` says in one line why it cannot listen."""

import socket

import pytest
from django.core.management import CommandError, call_command


def test_a_taken_port_is_named() -> None:
    """Somebody listens there already."""
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(CommandError, match="choose another port"):
        call_command("serve", "--port", str(other.getsockname()[1]))


def test_a_port_that_does_not_exist_is_named() -> None:
    """Ports end at 65535."""
    with pytest.raises(CommandError, match="99999"):
        call_command("serve", "--port", "99999")
