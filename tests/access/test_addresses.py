"""The client's address, where proxies stand between."""

from ipaddress import ip_address, ip_network

import pytest
from pytest_django import Settings

from access import addresses


@pytest.fixture(autouse=True)
def _behind_proxies(settings: Settings) -> None:
    """Trust the proxies of one network, and one more."""
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8"), ip_network("2001:db8:ffff::1")]


def _client(remote: str, forwarded: str | None = None) -> str:
    meta = {"REMOTE_ADDR": remote} | ({} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded})
    return str(addresses.client_of(meta))


@pytest.mark.parametrize(
    ("remote", "forwarded", "client"),
    [
        ("203.0.113.9", None, "203.0.113.9"),
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "192.0.2.66, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "192.0.2.66, 198.51.100.1, 10.9.9.9", "198.51.100.1"),
        ("10.0.0.1", "10.2.2.2,10.3.3.3", "10.2.2.2"),
        ("10.0.0.1", "198.51.100.1,10.2.2.2 , ,", "198.51.100.1"),
        ("2001:db8:ffff::1", "2001:db8::7", "2001:db8::7"),
        ("::ffff:10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"),
    ],
)
def test_addresses_are_walked_from_the_right_past_proxies_of_ours(remote: str, forwarded: str, client: str) -> None:
    """What stands left of the first foreign address was written by the client himself."""
    assert _client(remote, forwarded) == client


@pytest.mark.parametrize(
    ("entry", "client"),
    [
        ("198.51.100.1:4711", "198.51.100.1"),
        ("[2001:db8::7]:4711", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("fe80::1%eth0", "fe80::1"),
    ],
)
def test_forms_of_other_proxies_are_read(entry: str, client: str) -> None:
    """With a port, with brackets, with a zone."""
    assert _client("10.0.0.1", entry) == client


@pytest.mark.parametrize(
    "entry", ["unknown", "_hidden", "1.2.3", "1.2.3.4.5", "'; --", "::1::", "[", "%", "\xe9", "9" * 5000]
)
def test_an_entry_that_is_no_address_ends_the_walk(entry: str) -> None:
    """The last address that was sure counts; nothing breaks."""
    assert _client("10.0.0.1", f"198.51.100.1, {entry}") == "10.0.0.1"
    assert _client("10.0.0.1", f"198.51.100.1, {entry}, 10.2.2.2") == "10.2.2.2"


def test_without_trusted_proxies_nobody_is_believed(settings: Settings) -> None:
    """TRUSTED_PROXIES alone decides."""
    settings.TRUSTED_PROXIES = []

    assert _client("127.0.0.1", "198.51.100.1") == "127.0.0.1"
    assert _client("", "198.51.100.1") == "None"


def test_a_unix_socket_is_a_proxy_of_ours() -> None:
    """Where proxies are trusted at all, only one of them can stand at the other end."""
    assert _client("", "198.51.100.1") == "198.51.100.1"


@pytest.mark.parametrize(
    ("remote", "network"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("", "unknown"),
    ],
)
def test_ipv6_counts_by_network(remote: str, network: str) -> None:
    """A customer has 2^64 addresses and would never meet a limit."""
    assert addresses.network_of({"REMOTE_ADDR": remote}) == network


def test_an_address_lies_in_a_network_of_its_kind() -> None:
    """IPv4 and IPv6 stand in one list; a caller without an address lies in any network, but not in none."""
    networks = [ip_network("127.0.0.0/8"), ip_network("::1")]

    assert addresses.is_within(ip_address("127.0.0.5"), networks)
    assert addresses.is_within(ip_address("::1"), networks)
    assert not addresses.is_within(ip_address("8.8.8.8"), networks)
    assert addresses.is_within(None, networks)
    assert not addresses.is_within(None, [])
