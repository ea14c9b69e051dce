"""A real browser, signed in as the shop's staff, before the site on a port of its own."""

import os
import shutil
from collections.abc import Iterator

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from tests.staff import sign_in

#: As Debian and others name it; `make browser` brings it.
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: For one step, on a machine that is busy with other things.
WAIT_MS = 20_000
PHONE: ViewportSize = {"width": 390, "height": 844}

expect.set_options(timeout=WAIT_MS)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the browser once for a module."""
    executable = next((path for path in map(shutil.which, BROWSERS) if path), None)
    assert executable is not None, "the browser tests need Chromium: make browser"
    # Chromium's sandbox does not work for root, and the tests show it nothing but this site.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright's loop runs in this thread, and Django would take the tests for coroutines of it.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        started = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield started
        started.close()


@pytest.fixture
def staff(transactional_db: None) -> Client:
    """Sign in as the shop's staff."""
    return sign_in()


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, staff: Client) -> Iterator[Page]:
    """Open a page of the site's; in the end, nothing was asked of another host and nothing has failed in it."""
    context = browser.new_context(base_url=live_server.url)
    context.add_cookies([{"name": "sessionid", "value": staff.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    elsewhere: list[str] = []
    failures: list[str] = []
    page.on("request", lambda request: elsewhere.append(request.url) if not _is_of(live_server, request.url) else None)
    page.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: failures.append(str(error)))
    yield page
    # The site is left before its database is emptied.
    page.goto("about:blank")
    context.close()
    assert elsewhere == []
    assert failures == []


@pytest.fixture
def phone(page: Page) -> Page:
    """Look at the page through a phone's window."""
    page.set_viewport_size(PHONE)
    return page


def _is_of(site: LiveServer, url: str) -> bool:
    return url.startswith((site.url, "data:"))
