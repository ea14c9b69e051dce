"""POST /orders/: who may order, for whom, and how often."""

import pytest
from pytest_django import Settings

from access.rates import Rate
from orders.models import Order
from tests.api import shop
from tests.conftest import MakeClient

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _on_sale() -> None:
    shop.open_sale("tee", stock=3)


def test_without_a_token_nothing_is_told(api: MakeClient) -> None:
    """401 with a challenge, before the body or anything else is looked at."""
    stranger = api("ann")
    stranger.defaults.pop("HTTP_AUTHORIZATION")

    for answer in (shop.buy(stranger, b"{"), shop.buy(stranger, shop.basket("tee")), stranger.get(shop.ORDERS)):
        assert shop.refusal(answer) == (401, "not_authenticated")
        assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_buyer_is_named_only_with_the_scope(api: MakeClient) -> None:
    """Also where it is the caller himself: who may not name must not."""
    for named in ("bob", "ann"):
        assert shop.refusal(shop.buy(api("ann"), shop.basket("tee", buyer=named))) == (403, "permission_denied")
    assert Order.objects.count() == 0


@pytest.mark.parametrize("buyer", ["x" * 129, "", "a\nb", "a\u0000b", "\u202euser", 7, None, ["ann"]])
def test_a_named_buyer_is_1_to_128_printable_characters(buyer: object, api: MakeClient) -> None:
    """Whatever does not fit is refused, and never cut."""
    answer = shop.buy(api("shop", "orders:any-buyer"), shop.basket("tee", buyer=buyer))

    assert shop.pointers(answer) == ["/buyer"]


def test_too_many_orders_of_a_buyer_are_throttled(api: MakeClient, settings: Settings) -> None:
    """The buyer is told when to come back; another one is not held up."""
    settings.THROTTLE_BUYER = Rate(2, 10)
    for _ in range(2):
        shop.buy(api("ann"), shop.basket("tee"))

    answer = shop.buy(api("ann"), shop.basket("tee"))

    assert shop.refusal(answer) == (429, "throttled")
    assert 1 <= int(answer["Retry-After"]) <= 10
    assert shop.buy(api("bob"), shop.basket("tee")).status_code == 201
    assert api("ann").get(shop.ORDERS).status_code == 200
