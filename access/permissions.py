"""What a token allows."""

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from access.caller import STOCK_WRITE, caller_of


class MayWriteStock(BasePermission):
    """Ask for the scope `stock:write`."""

    message = f"This needs the scope {STOCK_WRITE}."

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Tell whether the caller has the scope."""
        caller = caller_of(request)
        return caller is not None and caller.may(STOCK_WRITE)


class MayWriteStockOrRead(MayWriteStock):
    """Let everybody read, and ask for the scope `stock:write` for the rest."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Tell whether the call only reads, or the caller has the scope."""
        return request.method in SAFE_METHODS or super().has_permission(request, view)
