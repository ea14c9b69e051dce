"""Who calls: a buyer, and what his token allows beyond ordering for himself."""

from dataclasses import dataclass

from rest_framework.request import Request

BUYER_LENGTH_MAX = 128
ANY_BUYER = "orders:any-buyer"
STOCK_WRITE = "stock:write"


@dataclass(frozen=True, slots=True)
class Caller:
    """The bearer of a token; stands where Django has a user."""

    buyer: str
    scopes: frozenset[str] = frozenset()
    is_authenticated: bool = True

    @property
    def pk(self) -> str:
        """Identify the caller, for libraries that ask a user so."""
        return self.buyer

    def may(self, scope: str) -> bool:
        """Tell whether the token carries a scope."""
        return scope in self.scopes


def caller_of(request: Request) -> Caller | None:
    """Give who calls, None for nobody."""
    user: object = request.user
    return user if isinstance(user, Caller) else None


def is_buyer(value: object) -> bool:
    """Tell whether a value can be a buyer: 1 to 128 printable characters."""
    return isinstance(value, str) and 0 < len(value) <= BUYER_LENGTH_MAX and value.isprintable()
