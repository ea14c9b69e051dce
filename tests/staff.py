"""A member of staff before the admin: signed in, and sending forms as a browser sends what it was shown."""

from collections.abc import Mapping
from html.parser import HTMLParser
from io import StringIO
from typing import Any

from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client, override_settings

from inventory.models import Product

PRODUCTS = "/admin/inventory/product/"
LEDGER = "/admin/inventory/stockmovement/"

# What the test client answers with: a response with its context.
Answer = Any


def sign_in(*, username: str = "staff", **options: Any) -> Client:  # those of a test client
    """Make the member of staff that `make run` makes, and sign in."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        # The real one takes half a second, on purpose.
        call_command("make_staff", username=username, stdout=StringIO())
    client = Client(**options)
    client.force_login(User.objects.get(username=username))
    return client


def take_away(codename: str, *, username: str = "staff") -> None:
    """Take a permission away from a member of staff."""
    user = User.objects.get(username=username)
    for group in user.groups.all():
        group.permissions.remove(Permission.objects.get(codename=codename))


def page_of(sku: str, name: str = "change") -> str:
    """Give the address of a product's page: change, seed, adjust, history or delete."""
    return f"{PRODUCTS}{Product.objects.get(sku=sku).pk}/{name}/"


def opened(client: Client, path: str) -> dict[str, str]:
    """Open a page with a form, and give what a browser would send of it."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.status_code
    return form_in(answer)


def send(client: Client, path: str, form: Mapping[str, str], **typed: Any) -> Answer:  # values of fields
    """Send a form with what was typed into it, and follow where it leads."""
    return client.post(path, {**form, **typed}, follow=True)


def told(answer: Answer) -> list[str]:
    """Give the messages on a page."""
    return [str(message) for message in answer.context["messages"]]


def shown(answer: Answer) -> list[Any]:  # rows of any model
    """Give the rows of a list."""
    return list(answer.context["cl"].result_list)


def form_in(answer: Answer) -> dict[str, str]:
    """Give the fields of the page's own form, the one that posts and is not the sign-out."""
    reader = _FormReader()
    reader.feed(answer.content.decode())
    return reader.fields


class _FormReader(HTMLParser):
    """Reads the last form of a page that posts."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._text: str | None = None
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the value of an input, of a chosen option, or begin a text."""
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if tag == "form":
            self.fields = {}
        elif tag == "input" and name and given.get("type") != "submit":
            is_checkbox = given.get("type") == "checkbox"
            if not is_checkbox or "checked" in given:
                self.fields[name] = given.get("value", "on" if is_checkbox else "")
        elif tag == "select":
            self._select = name
        elif tag == "option" and "selected" in given:
            self.fields[self._select] = given["value"]
        elif tag == "textarea":
            self._text = name
            self.fields[name] = ""

    def handle_data(self, data: str) -> None:
        """Take the text."""
        if self._text is not None:
            self.fields[self._text] += data

    def handle_endtag(self, tag: str) -> None:
        """End a text."""
        if tag == "textarea":
            assert self._text is not None, "a text that ends has begun"
            # A browser drops the line break that Django writes after the tag, and ends lines as forms do.
            self.fields[self._text] = self.fields[self._text].removeprefix("\r\n").removeprefix("\n")
            self._text = None
