"""The admin in a real browser: what staff do on a sale night, by clicks and keys alone."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from playwright.sync_api import Page, expect

from inventory.models import Product, Stock, StockMovement
from orders import placing
from tests.races.sale import open_sale, prove, wants
from tests.staff import PRODUCTS, page_of

ADD = f"{PRODUCTS}add/"


def number(page: Page, name: str) -> str:
    """Read one of the numbers of the stock."""
    return page.locator(".stock .numbers > div", has_text=name).locator("dd").first.inner_text()


def click_twice(page: Page, name: str) -> None:
    """Click a button twice; the site answers neither click before the second is on its way."""
    button = page.get_by_role("button", name=name, exact=True)
    button.hover()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE inventory_product, inventory_stock IN EXCLUSIVE MODE")
        for _ in range(2):
            with page.expect_request(lambda request: request.method == "POST"):
                page.mouse.down()
                page.mouse.up()


def test_a_product_is_made_with_its_first_units(page: Page) -> None:
    """From an empty shop to units on sale in one form."""
    page.goto(PRODUCTS)
    page.get_by_role("link", name="Add product").click()
    page.get_by_label("Sku").fill("tee")
    page.get_by_label("Name").fill("Tee, red")
    page.get_by_label("Price:").fill("19.90")
    page.get_by_label("Units").fill("1234")
    page.get_by_label("Reason").fill("first delivery")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator(".messagelist")).to_contain_text("Moved +1,234 units")
    assert (number(page, "Available"), number(page, "Held"), number(page, "Sold")) == ("1,234", "0", "0")
    expect(page.locator(".stock h2")).to_contain_text("on sale")
    prove("tee")


def test_a_double_click_makes_one_product(page: Page) -> None:
    """Both clicks send the form, and the page that comes is the product's."""
    page.goto(ADD)
    page.get_by_label("Sku").fill("tee")
    page.get_by_label("Name").fill("Tee")
    page.get_by_label("Price:").fill("19.90")
    page.get_by_label("Units").fill("5")
    click_twice(page, "Save")

    expect(page.locator(".stock h2")).to_be_visible()
    assert Product.objects.count() == StockMovement.objects.count() == 1
    prove("tee")


def test_a_double_click_adjusts_once(page: Page) -> None:
    """The button is clicked twice, the stock moves once, and staff are told how it stands."""
    open_sale("tee", total=5)
    page.goto(page_of("tee"))
    page.get_by_role("link", name="Adjust stock").click()
    page.get_by_label("Units").fill("2")
    page.get_by_label("Reason").fill("found two")
    click_twice(page, "Move the units")

    expect(page.locator(".messagelist")).to_contain_text("7 are available")
    assert number(page, "Available") == "7"
    assert StockMovement.objects.filter(kind="adjusted").count() == 1
    prove("tee")


def test_stock_is_seeded_by_keys_alone(page: Page) -> None:
    """Typed, a tab, and Enter."""
    open_sale("tee", total=0)
    page.goto(page_of("tee"))
    page.get_by_role("link", name="seed the stock").press("Enter")
    page.get_by_label("Available units").press_sequentially("10")
    page.keyboard.press("Tab")
    page.keyboard.type("delivery")
    page.keyboard.press("Enter")

    expect(page.locator(".messagelist")).to_contain_text("Moved +10 units: 10 are available.")
    assert Stock.objects.get().available == 10


def test_held_and_sold_units_are_shown(page: Page) -> None:
    """As buyers come, on the list and on the page."""
    open_sale("tee", total=9)
    open_sale("free", total=9, price="0")
    placing.place([wants({"tee": 2}), wants({"free": 3}, buyer="bob")])

    page.goto(PRODUCTS)
    rows = [row.split()[:5] for row in page.locator("#result_list tbody tr").all_inner_texts()]
    assert rows == [["free", "free", "6", "0", "3"], ["tee", "tee", "7", "2", "0"]]

    page.get_by_role("link", name="tee tee").click()
    assert (number(page, "Available"), number(page, "Held")) == ("7", "2")


def test_a_name_is_mended_while_units_are_sold(page: Page) -> None:
    """O11 by a browser: lines, times and the price of the form are sent back as they were shown, and stay untouched."""
    facts = {"description": "Two\nlines", "opens_at": datetime(2020, 5, 1, 18, 30, 15, 250_000, UTC)}
    open_sale("tee", total=5, **facts)
    page.goto(page_of("tee"))
    placing.place([wants("tee")])
    Product.objects.update(price="25.00")

    page.get_by_label("Name").fill("Tee, red")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator(".messagelist")).to_contain_text("was changed successfully")
    product = Product.objects.get()
    assert (product.name, str(product.price), product.description) == ("Tee, red", "25.00", "Two\nlines")
    assert product.opens_at == facts["opens_at"]
    assert Stock.objects.values_list("available", "held").get() == (4, 1)


@pytest.mark.parametrize("path", ["list", "add", "product", "adjust", "seed", "orders", "ledger", "order"])
def test_a_phone_shows_every_page_without_scrolling_sideways(phone: Page, path: str) -> None:
    """Wide tables scroll within themselves; every field has a name that is read out."""
    open_sale("tee", total=50, name="A very long name of a tee " * 5)
    placing.place([wants("tee", buyer="b" * 128)])
    paths = {
        "list": PRODUCTS,
        "add": ADD,
        "product": page_of("tee"),
        "adjust": page_of("tee", "adjust"),
        "seed": page_of("tee", "seed"),
        "orders": "/admin/orders/order/",
        "ledger": "/admin/inventory/stockmovement/",
        "order": "/admin/orders/order/",
    }

    phone.goto(paths[path])
    if path == "order":
        phone.locator("#result_list th a").click()

    assert phone.evaluate("document.documentElement.scrollWidth") <= phone.evaluate("window.innerWidth")
    assert phone.evaluate(FIELDS_WITHOUT_A_NAME) == []


FIELDS_WITHOUT_A_NAME = """
    [...document.querySelectorAll("#content input, #content select, #content textarea")]
        .filter(field => !["hidden", "submit"].includes(field.type) && field.offsetParent)
        .filter(field => !field.labels.length && !field.ariaLabel && !field.getAttribute("aria-labelledby"))
        .map(field => field.name || field.id)
"""


def test_staff_sign_in_and_out(page: Page) -> None:
    """By name and password, on the site's own page."""
    user = User.objects.get()
    user.set_password("correct horse")
    user.save(update_fields=["password"])
    page.context.clear_cookies()

    page.goto("/admin/")
    page.get_by_label("Username").fill("staff")
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="The shop")).to_be_visible()

    page.get_by_role("button", name="Log out").click()
    page.goto(PRODUCTS)
    expect(page.get_by_label("Username")).to_be_visible()
