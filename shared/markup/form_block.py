"""A form as it stands in front matter: YAML of which nothing is believed, in, a Form out."""

from typing import Any

import yaml
from pydantic import ValidationError

from schemas.content import Form

DEEPEST, MOST = 5, 2000


class BadBlock(Exception):
    """`line`: of the document, from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


def read_form(node: yaml.Node) -> Form:
    """BadBlock says where and why it is none."""
    try:
        return Form.model_validate(_Reader().plain(node, 0))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadBlock(_line(node), f"{place or 'form'}: {first['msg']}"[:300]) from None


class _Reader:
    """Nodes as plain values, all text. An alias is counted each time, so that a short text never becomes a large one."""

    def __init__(self) -> None:
        self._read = 0

    def plain(self, node: yaml.Node, depth: int) -> Any:
        self._read += 1
        if depth > DEEPEST or self._read > MOST:
            raise BadBlock(_line(node), "it is too large")
        match node:
            case yaml.ScalarNode():
                return node.value
            case yaml.SequenceNode():
                return [self.plain(each, depth + 1) for each in node.value]
            case yaml.MappingNode():
                return {self._name(key): self.plain(value, depth + 1) for key, value in node.value}
        raise BadBlock(_line(node), "it holds something that is neither text, list nor `key: value`")

    @staticmethod
    def _name(key: yaml.Node) -> str:
        if not isinstance(key, yaml.ScalarNode):
            raise BadBlock(_line(key), "a key is not text")
        return str(key.value)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 2
