"""The two forms that move stock. Each carries a request_id made when it is shown: sent twice, it moves once."""

from typing import Any, ClassVar

from django import forms
from django.http import HttpRequest

from inventory import services
from inventory.exceptions import (
    InsufficientStock,
    Invalid,
    Refusal,
    RequestIdReused,
    StockVersionStale,
)
from inventory.forms import ReasonField, RequestIdField, UnitsField
from inventory.models import IDENTIFIER_LENGTH_MAX, Product, Stock


class MoveForm(forms.Form):
    """What both forms ask: why, and by which request."""

    required_css_class = "required"
    #: What the page is called, what it says of itself, and its button.
    title: ClassVar[str]
    intro: ClassVar[str]
    button: ClassVar[str]

    reason = ReasonField()
    request_id = RequestIdField()

    def __init__(self, data: Any = None, *, product: Product, stock: Stock) -> None:  # data is what Django's forms take
        """Bind to the product and its stock as it is now."""
        super().__init__(data, initial={"version": stock.version})
        self.product = product
        self.stock = stock

    def move(self, *, actor: str) -> services.StockChange | None:
        """Do it; None where it was refused, and the form says why."""
        try:
            return self._move(actor=actor)
        except InsufficientStock as error:
            self.add_error(
                None, f"Only {error.available:,} units are available, so that many cannot be taken away. {ELSEWHERE}"
            )
        except StockVersionStale:
            self._show_again(version=self._version_of_now())
            self.add_error(
                None,
                f"The stock has changed since this form was shown: {self.stock.available:,} units are "
                "available now. Send it again to bring them to the number below, or adjust by a number of units.",
            )
        except RequestIdReused:
            self._show_again(request_id=services.new_request_id())
            self.add_error(
                None, "This form has moved stock once already, with other content. Send it again to move more."
            )
        except Invalid as error:
            self.add_error(None, "; ".join(detail for _, detail in error.errors))
        except Refusal as error:
            self.add_error(None, error.sentence)
        return None

    def _move(self, *, actor: str) -> services.StockChange:
        raise AssertionError("each form moves in its own way")

    def _version_of_now(self) -> int:
        self.stock.refresh_from_db()
        return self.stock.version

    def _show_again(self, **hidden: Any) -> None:  # values of the hidden fields
        """Take these hidden values for the next sending, and keep what was typed."""
        self.data = {**self.data.dict(), **hidden}  # type: ignore[attr-defined]  # the QueryDict of a POST


class AdjustForm(MoveForm):
    """Add or take away units: what was sold meanwhile stays sold."""

    title = "Adjust stock"
    intro = "Adds units or takes some away, whatever is sold meanwhile."
    button = "Move the units"

    delta = UnitsField(least=-services.UNITS_MAX, label="Units", help_text="2 adds two units, -2 takes two away.")
    field_order = ("delta", "reason")

    def clean_delta(self) -> int:
        """Refuse to move nothing."""
        delta = self.cleaned_data["delta"]
        if delta == 0:
            raise forms.ValidationError("0 moves nothing.")
        return int(delta)

    def _move(self, *, actor: str) -> services.StockChange:
        given = self.cleaned_data
        return services.adjust(
            sku=self.product.sku,
            delta=given["delta"],
            reason=given["reason"],
            request_id=given["request_id"],
            actor=actor,
        )


class SeedForm(MoveForm):
    """Bring the available units to a number, if nothing has changed since the form was shown."""

    title = "Seed stock"
    intro = "Brings the available units to a number, if none is sold meanwhile. In a running sale, adjust instead."
    button = "Seed"

    available = UnitsField(label="Available units", help_text="The difference to what is available now is moved.")
    version = forms.IntegerField(widget=forms.HiddenInput)
    field_order = ("available", "reason")

    def _move(self, *, actor: str) -> services.StockChange:
        given = self.cleaned_data
        return services.seed(
            sku=self.product.sku,
            available=given["available"],
            request_id=given["request_id"],
            actor=actor,
            if_versions=frozenset({given["version"]}),
            note=given["reason"],
        )


ELSEWHERE = "Held and sold units stay with their buyers."


def actor_of(request: HttpRequest) -> str:
    """Name the member of staff for the ledger, which takes fewer characters than Django's user names have."""
    return f"staff:{request.user.get_username()}"[:IDENTIFIER_LENGTH_MAX]


def may_move(request: HttpRequest) -> bool:
    """Tell whether this member of staff may move stock."""
    return request.user.has_perm("inventory.change_stock")


def sentence_of(change: services.StockChange) -> str:
    """Say what was done."""
    if change.movement is None:
        return f"Nothing had to move: {change.available:,} units are available."
    moved = f"{change.movement.delta:+,} {'unit' if abs(change.movement.delta) == 1 else 'units'}"
    if change.replayed:
        return f"This was done already, once: {moved}. {change.available:,} are available now."
    return f"Moved {moved}: {change.available:,} are available."
