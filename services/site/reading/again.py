"""A form that could not be taken, shown once more with what was typed and what is wrong with it. No cache keeps it."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from schemas.content import Form
from services.site.reading.layout import Layout, private
from services.site.reading.words import words_for
from services.site.signals.reception import Reception, Subject
from shared.errors import Refused


class Again:
    """For one readership."""

    def __init__(self, layout: Layout, reception: Reception) -> None:
        self._layout, self._reception = layout, reception

    def comment(self, subject: Subject, given: Mapping[str, str], refused: Refused) -> Response:
        typed = {name: given.get(name, "") for name in ("name", "text")}
        problem = words_for(subject.item.lang).get(f"why_{refused.code}", "why_other")
        return self._page(subject, refused.status, form=None, typed=typed, faults={}, problem=problem)

    def form(self, subject: Subject, form: Form, typed: Mapping[str, str], faults: Mapping[str, str]) -> Response:
        return self._page(subject, 422, form=form, typed=typed, faults=faults, problem="")

    def _page(self, subject: Subject, status: int, **about: Any) -> Response:
        item = subject.item
        known = {"item": item, "address": subject.address, "shared_by": subject.token, "lang": item.lang}
        token = self._reception.token_for(item.item_id)
        return private(self._layout.page("again.html", words_for(item.lang), token=token, **known, **about), status)
