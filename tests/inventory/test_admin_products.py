"""Products in the admin: made once with their stock, changed without touching it, never deleted."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from inventory import services
from inventory.admin.reading import ROWS_PER_PAGE
from inventory.models import Product, Stock, StockMovement
from orders import placing
from tests.races.sale import open_sale, prove, wants
from tests.staff import PRODUCTS, form_in, opened, page_of, send, sign_in, told

pytestmark = pytest.mark.django_db(transaction=True)

ADD = f"{PRODUCTS}add/"
TEE = {"sku": "tee", "name": "Tee", "price": "19.90"}


@pytest.fixture
def staff() -> Client:
    """Sign in as the shop's staff."""
    return sign_in()


def test_a_new_product_has_its_stock_row_and_its_first_units(staff: Client) -> None:
    """One form makes the product, and seeds it by a movement with its maker's name."""
    answer = send(staff, ADD, opened(staff, ADD), **TEE, units="10", reason="first delivery")

    assert answer.redirect_chain[-1][0] == page_of("tee")
    assert Stock.objects.get(product__sku="tee").available == 10
    entry = StockMovement.objects.get()
    assert (entry.kind, entry.delta, entry.actor, entry.note) == ("seeded", 10, "staff:staff", "first delivery")
    prove("tee")


def test_a_new_product_may_wait_for_its_units(staff: Client) -> None:
    """Without units nothing moves, and its page says what to do next."""
    answer = send(staff, ADD, opened(staff, ADD), **TEE)

    assert Stock.objects.values_list("available", "version").get() == (0, 0)
    assert "Nothing has moved yet" in answer.content.decode()


@pytest.mark.parametrize("units", ["", "10"])
def test_a_form_that_is_sent_twice_makes_one_product(staff: Client, units: str) -> None:
    """A double click, or a reload: one product, one movement, one line of history, and no error."""
    form = opened(staff, ADD) | TEE | {"units": units}

    send(staff, ADD, form)
    again = send(staff, ADD, form)

    assert again.redirect_chain[-1][0] == page_of("tee")
    assert any("made once" in sentence for sentence in told(again))
    assert Product.objects.count() == LogEntry.objects.count() == 1
    assert Stock.objects.get().available == int(units or 0)
    prove("tee")


def test_a_taken_sku_is_an_error_of_the_form(staff: Client) -> None:
    """Another product of that name, or another form with the same words, makes nothing."""
    open_sale("tee", total=5)

    answer = send(staff, ADD, opened(staff, ADD), **TEE, units="10")

    assert "sku" in answer.context["adminform"].form.errors
    assert Stock.objects.get().available == 5


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("sku", {"sku": "a b"}),
        ("price", {"price": "-1"}),
        ("currency", {"currency": "euro"}),
        ("limit_per_buyer", {"limit_per_buyer": "0"}),
        ("units", {"units": "-1"}),
        ("request_id", {"request_id": "a b"}),
        ("reason", {"units": "1", "reason": "x" * 501}),
        (
            "closes_at",
            {"opens_at_0": "2030-05-02", "opens_at_1": "18:00", "closes_at_0": "2030-05-01", "closes_at_1": "18:00"},
        ),
    ],
)
def test_what_is_wrong_is_an_error_of_its_field(staff: Client, field: str, wrong: dict[str, str]) -> None:
    """Nothing is written, and what was typed is still there."""
    answer = send(staff, ADD, opened(staff, ADD) | TEE, **wrong)

    assert list(answer.context["adminform"].form.errors) == [field]
    assert form_in(answer)["name"] == "Tee"
    assert not Product.objects.exists()


def test_a_currency_is_taken_in_small_letters(staff: Client) -> None:
    """A phone's keyboard writes eur."""
    send(staff, ADD, opened(staff, ADD), **TEE, currency="eur")

    assert Product.objects.get().currency == "EUR"


def test_a_name_edited_while_units_are_sold_leaves_stock_alone(staff: Client) -> None:
    """O11: the form is opened, one unit is sold, the form is saved."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee"))
    placing.place([wants("tee")])

    send(staff, page_of("tee"), form, name="Tee, red")

    assert Product.objects.get().name == "Tee, red"
    assert Stock.objects.values_list("available", "held", "version").get() == (4, 1, 2)
    prove("tee")


def test_numbers_of_stock_cannot_be_typed_over(staff: Client) -> None:
    """Promise 7: no form has such a field, and sending one changes nothing."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee"))

    send(staff, page_of("tee"), form, available="99", held="1", version="9", sku="other", name="Tee, red")

    assert not {"available", "held", "version", "sku", "units"} & set(form)
    assert Stock.objects.values_list("available", "held", "version").get() == (5, 0, 1)
    assert Product.objects.get().sku == "tee"


def test_a_form_writes_only_what_was_changed_in_it(staff: Client) -> None:
    """The price that another has set since the form was opened stays."""
    open_sale("tee", total=5, description="two\nlines", opens_at=datetime(2030, 5, 1, 18, 0, 0, 250_000, UTC))
    form = opened(staff, page_of("tee"))
    services.update_product(sku="tee", price="25.00")

    send(staff, page_of("tee"), form, name="Tee, red", description="two\r\nother lines")

    product = Product.objects.get()
    assert (product.name, str(product.price), product.description) == ("Tee, red", "25.00", "two\nother lines")
    assert product.opens_at == datetime(2030, 5, 1, 18, 0, 0, 250_000, UTC)


def test_what_two_have_changed_is_not_written_over(staff: Client) -> None:
    """The second is told, and writes nothing."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee"))
    services.update_product(sku="tee", price="25.00")

    answer = send(staff, page_of("tee"), form, price="30.00", name="Tee, red")

    assert list(answer.context["adminform"].form.errors) == ["price"]
    assert Product.objects.values_list("name", "price").get() == ("tee", Decimal("25.00"))


def test_a_change_between_check_and_writing_is_seen_under_the_lock(
    staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one is faster by a hair: the form looks again, and says so."""
    open_sale("tee", total=5)
    form = opened(staff, page_of("tee"))
    update = services.update_product

    def faster(**changes: object) -> Product:
        monkeypatch.setattr(services, "update_product", update)
        update(sku="tee", price="25.00")
        return update(**changes)  # type: ignore[arg-type]  # what the admin has given

    monkeypatch.setattr(services, "update_product", faster)

    answer = send(staff, page_of("tee"), form, price="30.00")

    assert list(answer.context["adminform"].form.errors) == ["price"]
    assert Product.objects.get().price == 25


def test_products_are_not_deleted(staff: Client) -> None:
    """They have a history: neither their page nor the list offers it."""
    open_sale("tee", total=5)

    assert staff.post(page_of("tee", "delete"), {"post": "yes"}).status_code == 403
    assert "delete_selected" not in staff.get(PRODUCTS).content.decode()
    assert "/delete/" not in staff.get(page_of("tee")).content.decode()


def test_products_are_withdrawn_and_put_back_from_the_list(staff: Client) -> None:
    """On a sale night that takes two clicks; their stock is left alone."""
    open_sale("tee", total=5)
    chosen = {"_selected_action": str(Product.objects.get().pk)}

    withdrawn = send(staff, PRODUCTS, chosen, action="withdraw", index="0")
    assert told(withdrawn) == ["Withdrawn: tee."]
    assert not Product.objects.get().active

    send(staff, PRODUCTS, chosen, action="offer", index="0")
    assert Product.objects.get().active
    assert [str(entry.change_message) for entry in LogEntry.objects.order_by("pk")] == [
        "Withdrawn.",
        "Put back on offer.",
    ]
    assert Stock.objects.get().available == 5


def test_more_products_than_a_page_shows_are_not_withdrawn_at_once(staff: Client) -> None:
    """Everything has a limit; beyond it nothing is done, and staff are told."""
    for number in range(ROWS_PER_PAGE + 1):
        open_sale(f"tee-{number}", total=0)
    chosen = {"_selected_action": str(Product.objects.order_by("pk")[0].pk), "select_across": "1"}

    answer = send(staff, PRODUCTS, chosen, action="withdraw", index="0")

    assert told(answer) == [f"Choose at most {ROWS_PER_PAGE} products at a time."]
    assert not Product.objects.filter(active=False).exists()
