"""The pages that a problem's `type` leads to."""

import re
from contextlib import closing

import pytest
from django.test import Client

from config.problems import PROBLEMS


def _size(client: Client, file: str) -> int:
    with closing(client.get(file)) as answer:  # a file stays open until then
        assert answer.status_code == 200
        return sum(map(len, answer))


@pytest.mark.parametrize("code", PROBLEMS)
def test_every_problem_has_a_page(client: Client, code: str) -> None:
    """`type` is an address that a person can open, with and without a slash."""
    page = client.get(f"/problems/{code}")

    assert page.status_code == 200
    assert PROBLEMS[code][1] in page.content.decode()
    assert client.get(f"/problems/{code}/", follow=True).redirect_chain == [(f"/problems/{code}", 302)]


def test_all_problems_are_listed(client: Client) -> None:
    """With their statuses."""
    page = client.get("/problems/").content.decode()

    assert all(f"/problems/{code}" in page for code in PROBLEMS)


def test_a_refusal_explains_itself(client: Client) -> None:
    """The sentence is that of the exception."""
    assert "not enough units left" in client.get("/problems/sold_out").content.decode()


@pytest.mark.parametrize("path", ["/problems/", "/problems/sold_out", "/api/v1/docs/"])
def test_pages_load_nothing_from_elsewhere(client: Client, path: str) -> None:
    """No other host is named in what a browser would load, and the policy forbids it."""
    page = client.get(path)

    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", page.content.decode())
    assert "default-src 'self'" in page["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]


def test_the_docs_page_has_its_files_on_this_site(client: Client) -> None:
    """The page, the script that starts it, and what it loads, also with DEBUG off."""
    page = client.get("/api/v1/docs/").content.decode()
    script = client.get("/api/v1/docs/?script=").content.decode()

    files = re.findall(r'"(/static/[^"]+)"', page)
    assert {file.rpartition(".")[2] for file in files} >= {"css", "js", "png"}
    assert all(_size(client, file) > 0 for file in files)
    assert '"validatorUrl": null' in script
    assert "/api/v1/schema/" in script


def test_the_root_and_the_admin_lead_somewhere(client: Client) -> None:
    """Who opens the site finds its documentation; a missing slash is no dead end for staff."""
    assert client.get("/")["Location"] == "/api/v1/docs/"
    assert client.get("/admin")["Location"] == "/admin/"
