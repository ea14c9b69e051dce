"""The admin's forms of products. Stock is in none of them: what moves it stands in `inventory.admin.moves`."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import model_to_dict

from inventory import request_ids, services
from inventory.exceptions import RequestIdInvalid, RequestIdMissing
from inventory.models import NOTE_LENGTH_MAX, Product, StockMovement


class RequestIdField(forms.CharField):
    """The hidden request_id of a form, made when the form is shown: sending it twice is one request."""

    widget = forms.HiddenInput

    def __init__(self) -> None:
        """Make a new one for each form that is shown."""
        super().__init__(initial=services.new_request_id)

    def clean(self, value: Any) -> str:  # as Django's forms take it
        """Check it as the API does."""
        try:
            return request_ids.read(super().clean(value), in_header=None)
        except (RequestIdInvalid, RequestIdMissing) as error:
            raise ValidationError(error.sentence) from error


class ReasonField(forms.CharField):
    """Why units are moved."""

    def __init__(self, *, required: bool = True) -> None:
        """Ask on one line."""
        super().__init__(
            max_length=NOTE_LENGTH_MAX,
            required=required,
            help_text="Stands in the ledger for ever, with your name.",
            widget=forms.TextInput(attrs={"class": "vTextField", "autocomplete": "off"}),
        )


class UnitsField(forms.IntegerField):
    """A number of units."""

    def __init__(self, *, least: int = 0, **options: Any) -> None:  # those of IntegerField
        """Keep it in the bounds of the services."""
        super().__init__(min_value=least, max_value=services.UNITS_MAX, **options)


class ProductForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """What a product says. Only what was changed in this form is written, over nobody else's change."""

    class Meta:
        """Say in the shop's words what each field does."""

        model = Product
        fields: tuple[str, ...] = ()
        labels = {"hold_seconds": "Hold (seconds)", "opens_at": "Opens", "closes_at": "Closes", "active": "On offer"}
        help_texts = {
            "sku": "Callers and orders know the product by it; it never changes. Letters, digits and . _ -",
            "price": "Of orders placed from now on: an order keeps the price of its moment.",
            "limit_per_buyer": "Units per buyer over all live orders. Empty: no limit. Lowering it takes nothing away.",
            "opens_at": "Empty: open at once.",
            "closes_at": "Empty: until it is sold out or withdrawn.",
            "active": "Without the mark the product is withdrawn: no new orders; those that were placed stay.",
        }
        widgets = {
            "description": forms.Textarea(attrs={"rows": 3}),
            "currency": forms.TextInput(attrs={"size": 4, "autocapitalize": "characters"}),
        }

    def __init__(self, *args: Any, **options: Any) -> None:  # those of ModelForm
        """Let the form carry what it has shown, so that a change is told from what others have changed meanwhile."""
        super().__init__(*args, **options)
        for field in self.fields.values():
            field.show_hidden_initial = self.instance.pk is not None
            if isinstance(field.widget, forms.SplitDateTimeWidget):
                # Django's label names the first of the two inputs for the eye alone.
                for part, name in zip(field.widget.widgets, ("date", "time"), strict=True):
                    part.attrs["aria-label"] = f"{field.label}: {name}"

    def clean_currency(self) -> str:
        """Take EUR for eur."""
        return str(self.cleaned_data["currency"]).upper()

    def clean_description(self) -> str:
        """End lines as the API does, not as browsers do."""
        return _tidy(self.cleaned_data["description"])

    def clean(self) -> dict[str, Any] | None:
        """Refuse to write over what somebody else has changed since this form was shown."""
        cleaned = super().clean()
        for name in self.changed_data if self.instance.pk is not None else ():
            if self._has_moved_on(name):
                self.add_error(name, "Somebody else has changed this meanwhile: open the page anew.")
        return cleaned

    def changes(self) -> dict[str, Any]:
        """Give the fields that this form changes."""
        return {name: self.cleaned_data[name] for name in self.changed_data}

    def is_current(self, product: Product) -> bool:
        """Tell whether the fields to change are still what this form has compared them with."""
        names = self.changed_data
        return model_to_dict(product, names) == {name: self.initial[name] for name in names}

    def _has_moved_on(self, name: str) -> bool:
        field = self.fields[name]
        shown = field.hidden_widget().value_from_datadict(self.data, self.files, self.add_initial_prefix(name))
        now = self.get_initial_for_field(field, name)
        return _tidy(now) != _tidy(shown or "") if isinstance(now, str) else field.has_changed(now, shown)


class NewProductForm(ProductForm):
    """A new product, with its first units if they are known. Sent twice, it makes one product and seeds once."""

    units = UnitsField(required=False, help_text="To begin with. Empty: seed the stock later.")
    reason = ReasonField(required=False)
    request_id = RequestIdField()

    def product(self) -> dict[str, Any]:
        """Give the fields of the product."""
        mine = NewProductForm.declared_fields
        return {name: value for name, value in self.cleaned_data.items() if name not in mine}

    def made_before(self) -> Product | None:
        """Find the product that this form has made when it was sent before.

        It says what the form says, and its first movement, if there is one yet, is the form's.
        """
        product = Product.objects.filter(sku=self.cleaned_data.get("sku")).order_by("pk").first()
        if product is None or model_to_dict(product, self.product()) != self.product():
            return None
        first = StockMovement.objects.filter(product=product).order_by("seq").first()
        is_mine = first is None or first.request_id == self.cleaned_data["request_id"]
        return product if is_mine else None

    def validate_unique(self) -> None:
        """Let a product pass that this very form has made."""
        if self.errors or self.made_before() is None:
            super().validate_unique()


def _tidy(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
