"""How a view says in the OpenAPI document what it refuses: by code, since HTTP statuses are not its business."""

from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

ATTRIBUTE = "refusal_codes"


def refuses(*codes: str) -> Callable[[Method], Method]:
    """Declare the codes of the problems that a view's method answers with; `config.schema` knows their statuses."""

    def mark(method: Method) -> Method:
        setattr(method, ATTRIBUTE, codes)
        return method

    return mark
