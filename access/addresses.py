"""The client's address, where proxies stand between."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

from django.conf import settings

#: What one customer of an IPv6 provider is given at the least: addresses inside it are free to him.
IPV6_PREFIX_BITS = 64
UNKNOWN = "unknown"
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def client_of(meta: Mapping[str, Any]) -> Address | None:  # a WSGI environment
    """Give the address of the client; None where the server does not know (a Unix socket).

    X-Forwarded-For is believed only as far as TRUSTED_PROXIES go: from the right, past each proxy of ours, to the
    first address that is none. What a client writes there himself stands further left and is never reached.
    """
    address = _parse(meta.get("REMOTE_ADDR", ""))
    forwarded = [part for part in meta.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    while forwarded and _is_trusted(address):
        further = _parse(forwarded.pop())
        if further is None:
            break
        address = further
    return address


def network_of(meta: Mapping[str, Any]) -> str:  # a WSGI environment
    """Give what a limit per address counts by: an IPv4 address, or the /64 network of an IPv6 one."""
    address = client_of(meta)
    if address is None:
        return UNKNOWN
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, IPV6_PREFIX_BITS), strict=False))
    return str(address)


def is_hidden(meta: Mapping[str, Any]) -> bool:  # a WSGI environment
    """Tell whether somebody speaks for another whom the server cannot know: a proxy that TRUSTED_PROXIES does not name.

    Such a proxy on the same machine gives every client of the world the address 127.0.0.1.
    """
    return "HTTP_X_FORWARDED_FOR" in meta and not _is_trusted(_parse(meta.get("REMOTE_ADDR", "")))


def is_within(address: Address | None, networks: Sequence[Network]) -> bool:
    """Tell whether an address lies in one of these networks; a caller without one (a Unix socket) lies in any."""
    return bool(networks) if address is None else any(address in network for network in networks)


def _is_trusted(address: Address | None) -> bool:
    return is_within(address, settings.TRUSTED_PROXIES)


def _parse(text: str) -> Address | None:
    """Read an address, also one with a port, an IPv4 one in IPv6 clothes, or one with a zone."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
