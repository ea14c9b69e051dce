"""Who may move stock in the admin, and by what: staff with the right to it, by a form of this site."""

import pytest
from django.test import Client

from inventory.models import Stock
from tests.races.sale import open_sale
from tests.staff import opened, page_of, sign_in, take_away

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff() -> Client:
    """Sign in as the shop's staff."""
    return sign_in()


def available() -> int:
    """Give the units available of the one product there is."""
    return Stock.objects.get().available


@pytest.mark.parametrize("page", ["adjust", "seed"])
def test_looking_at_a_form_moves_nothing(staff: Client, page: str) -> None:
    """Only a POST moves: a link with numbers in it shows the empty form."""
    open_sale("tee", total=5)

    answer = staff.get(page_of("tee", page), {"delta": "2", "available": "2", "reason": "link", "request_id": "a"})

    assert answer.status_code == 200
    assert available() == 5


def test_a_form_from_another_site_is_refused() -> None:
    """Without the token that the form carries: 403."""
    staff = sign_in(enforce_csrf_checks=True)
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", "adjust")) | {"delta": "2", "reason": "found"}

    assert staff.post(page_of("tee", "adjust"), form | {"csrfmiddlewaretoken": ""}).status_code == 403
    assert staff.post(page_of("tee", "adjust"), form).status_code == 302
    assert available() == 7


@pytest.mark.parametrize("page", ["adjust", "seed"])
def test_stock_is_moved_by_those_who_may_change_it(staff: Client, page: str) -> None:
    """Without the permission there is neither the form nor the way to it."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee", page)) | {"delta": "2", "available": "7", "reason": "found"}
    take_away("change_stock")

    assert staff.post(page_of("tee", page), form).status_code == 403
    assert "You have not been given the right" in staff.get(page_of("tee", page)).content.decode()
    assert page_of("tee", page) not in staff.get(page_of("tee")).content.decode()
    assert available() == 5


def test_who_is_not_signed_in_is_asked_to(client: Client) -> None:
    """The form is behind the sign-in."""
    open_sale("tee", total=5)

    answer = client.post(page_of("tee", "adjust"), {"delta": "2", "reason": "found", "request_id": "a"})

    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/")
    assert available() == 5


@pytest.mark.parametrize("path", ["/admin/inventory/stock/", "/admin/inventory/stock/add/"])
def test_stock_has_no_page_of_its_own(staff: Client, path: str) -> None:
    """Its numbers are shown beside the product, and are nobody's to type."""
    assert staff.get(path).status_code == 404
