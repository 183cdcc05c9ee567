"""One spelling for each language tag: `DE` and `de` are one language, so they are one item."""


def spelled(tag: str) -> str:
    """A well-formed BCP 47 tag as RFC 5646 (2.1.1) writes it: `de`, `pt-BR`, `zh-Hant-TW`, `x-klingon`."""
    first, *rest = tag.lower().split("-")
    parts, private = [first], len(first) == 1
    for part in rest:
        private = private or len(part) == 1
        cased = {2: part.upper(), 4: part.title()}.get(len(part), part) if part.isalpha() else part
        parts.append(part if private else cased)
    return "-".join(parts)
