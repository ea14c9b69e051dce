"""The admin's forms that move stock. Each carries a request_id made when it is shown: a double click moves once."""

from typing import Any

from django import forms

from inventory import services
from inventory.exceptions import InsufficientStock, Invalid, Refusal, StockVersionStale
from inventory.models import NOTE_LENGTH_MAX, Product


class MoveForm(forms.Form):
    """What both forms ask: why."""

    #: What the page is called, and its button.
    title = ""
    button = ""

    reason = forms.CharField(max_length=NOTE_LENGTH_MAX, help_text="Stands in the ledger for ever.")
    request_id = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, product: Product) -> None:  # data is what Django's forms take
        """Bind to the product, and make the request_id of a form that is shown for the first time."""
        super().__init__(data, initial={"request_id": services.new_request_id(), "version": product.stock.version})
        self.product = product

    def move(self, *, actor: str) -> services.StockChange | None:
        """Do it; None where it was refused, and the form says why."""
        try:
            return self._move(actor=actor)
        except InsufficientStock as error:
            self.add_error(None, f"Only {error.available} units are available: nothing was taken away.")
        except StockVersionStale:
            self.add_error(None, "The stock has changed since this form was shown: look at it and send it again.")
            self._show_again()
        except Invalid as error:
            self.add_error(None, "; ".join(detail for _, detail in error.errors))
        except Refusal as error:
            self.add_error(None, error.sentence)
        return None

    def _move(self, *, actor: str) -> services.StockChange:
        raise AssertionError("each form moves in its own way")

    def _show_again(self) -> None:
        """Take up the version of now for the next sending."""
        self.product.stock.refresh_from_db()
        self.data = {**self.data.dict(), "version": self.product.stock.version}  # type: ignore[attr-defined]  # of a POST


class AdjustForm(MoveForm):
    """Add or take away units: what was sold meanwhile stays sold."""

    title = "Adjust stock"
    button = "Move the units"

    delta = forms.IntegerField(
        label="Units",
        min_value=-services.UNITS_MAX,
        max_value=services.UNITS_MAX,
        help_text="2 adds two units, -2 takes two away.",
    )
    field_order = ("delta", "reason")

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
    button = "Seed"

    available = forms.IntegerField(
        label="Available units", min_value=0, max_value=services.UNITS_MAX, help_text="The difference is moved."
    )
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
