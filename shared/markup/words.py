"""The few words that rendering adds to an author's text, by language; English where a language has none."""

from collections.abc import Mapping
from types import MappingProxyType

_EN = MappingProxyType(
    {
        "note": "Note",
        "info": "Info",
        "tip": "Tip",
        "check": "Check",
        "warning": "Warning",
        "danger": "Danger",
        "details": "Details",
        "tab": "Variant",
        "code": "Code",
        "table": "Table",
        "chart": "Chart",
        "footnote": "footnote",
        "back": "back to the text",
    }
)
_DE = MappingProxyType(
    {
        "note": "Hinweis",
        "info": "Info",
        "tip": "Tipp",
        "check": "Geprüft",
        "warning": "Achtung",
        "danger": "Gefahr",
        "details": "Einzelheiten",
        "tab": "Variante",
        "code": "Code",
        "table": "Tabelle",
        "chart": "Diagramm",
        "footnote": "Fußnote",
        "back": "zurück zum Text",
    }
)
_BY_LANGUAGE: Mapping[str, Mapping[str, str]] = MappingProxyType({"en": _EN, "de": _DE})


def words_for(lang: str) -> Mapping[str, str]:
    """The words of a BCP 47 language, by its primary tag: `de-AT` speaks `de`."""
    return _BY_LANGUAGE.get(lang.split("-", 1)[0].lower(), _EN)
