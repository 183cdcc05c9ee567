"""Highlighted code with the few classes that the style sheet knows."""

import re
from functools import lru_cache
from html import escape
from types import MappingProxyType

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

LONGEST = 20_000
"""Characters of one code block that are still coloured: lexers need time that grows faster than the text."""
LONGEST_LINE = 1_000
CLASSES = frozenset({"k", "kn", "s", "s1", "s2", "m", "mi", "nb", "nf", "nc", "c1"})
_CLASS_OF: dict[_TokenType, str] = {
    Keyword: "k",
    Keyword.Namespace: "kn",
    String: "s",
    String.Single: "s1",
    String.Double: "s2",
    Number: "m",
    Number.Integer: "mi",
    Name.Builtin: "nb",
    Name.Builtin.Pseudo: "nb",
    Name.Function: "nf",
    Name.Function.Magic: "nf",
    Name.Decorator: "nf",
    Name.Attribute: "nf",
    Name.Class: "nc",
    Name.Tag: "k",
    Comment: "c1",
}
_LEXERS = MappingProxyType(
    {
        **{name: name for name in ("bash", "c", "cpp", "css", "diff", "docker", "go", "html", "http", "ini", "java")},
        **{
            name: name
            for name in ("javascript", "json", "nginx", "python", "rust", "sql", "toml", "typescript", "xml", "yaml")
        },
        **{"py": "python", "python3": "python", "pycon": "pycon", "sh": "bash", "shell": "bash", "zsh": "bash"},
        **{
            "js": "javascript",
            "ts": "typescript",
            "dockerfile": "docker",
            "yml": "yaml",
            "c++": "cpp",
            "console": "console",
        },
    }
)
_LANGUAGE = re.compile(r"\{?\s*\.?([\w+#-]+)(?![\w+#=-])")


def language_of(info: str) -> str:
    """The language of a fence's info string: `python hl_lines="2"` and `{ .python .annotate }` are both `python`."""
    found = _LANGUAGE.match(info.strip())
    return found[1].lower() if found else ""


def highlight(code: str, info: str) -> str:
    """Escaped code, with spans when the language is one of the known ones and the block is not too long."""
    lexer = _lexer(_LEXERS.get(language_of(info), ""))
    if lexer is None or len(code) > LONGEST or any(len(line) > LONGEST_LINE for line in code.split("\n")):
        return escape(code, quote=False)
    return _spans(lexer, code)


@lru_cache(maxsize=64)
def _lexer(name: str) -> Lexer | None:
    return get_lexer_by_name(name, stripnl=False, ensurenl=False) if name else None


@lru_cache(maxsize=512)
def _class(kind: _TokenType) -> str:
    """The nearest class of the style sheet for a kind of token, empty for plain text."""
    at: _TokenType | None = kind
    while at is not None:
        if at in _CLASS_OF:
            return _CLASS_OF[at]
        at = at.parent
    return ""


def _spans(lexer: Lexer, code: str) -> str:
    out: list[str] = []
    open_class = ""
    for kind, value in lexer.get_tokens(code):
        name = open_class if value.isspace() else _class(kind)
        if name != open_class:
            out.append(("</span>" if open_class else "") + (f'<span class="{name}">' if name else ""))
            open_class = name
        out.append(escape(value, quote=False))
    return "".join(out) + ("</span>" if open_class else "")
