"""The pages that a problem document's `type` leads to."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from config.problems import PROBLEMS, RETRYABLE
from inventory.exceptions import Refusal


@require_safe
def problem_list(request: HttpRequest) -> HttpResponse:
    """List all problems."""
    rows = [{"code": code, "status": status, "title": title} for code, (status, title) in PROBLEMS.items()]
    return render(request, "problems/list.html", {"problems": rows})


@require_safe
def problem(request: HttpRequest, code: str) -> HttpResponse:
    """Explain one problem."""
    if code not in PROBLEMS:
        raise Http404
    status, title = PROBLEMS[code]
    context = {
        "code": code,
        "status": status,
        "title": title,
        "sentences": _sentences(code),
        "is_retryable": code in RETRYABLE,
    }
    return render(request, "problems/problem.html", context)


def unavailable(request: HttpRequest, document: HttpResponse) -> HttpResponse:
    """Say to staff what a problem document says while the database cannot be used; the page needs no database."""
    response = render(request, "problems/unavailable.html", status=document.status_code)
    response["Retry-After"] = document["Retry-After"]
    return response


def _sentences(code: str) -> list[str]:
    """Find what the refusals with this code say of themselves."""
    found: list[str] = []
    kinds = [Refusal]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if getattr(kind, "code", None) == code:
            found.append((kind.__doc__ or "").strip().splitlines()[0])
    return sorted(found)
