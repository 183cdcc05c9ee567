"""Personal data by pattern: addresses, phone numbers, accounts, cards."""

import re
from collections.abc import Iterator

from schemas.bridge.v1 import Finding

_MAIL = re.compile(r"(?<![\w.%+-])([\w.%+-]{1,64})@((?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24})(?![\w-])")
_EXAMPLE = re.compile(r"(?:.+\.)?example(?:\.[a-z]{2,24}){0,2}\Z|.*\.(?:test|invalid|localhost|local)\Z", re.IGNORECASE)
_PHONE = re.compile(
    r"(?<![\w.+/:-])(?:\+|00)[1-9](?:[ ()/.-]{0,3}[0-9]){6,13}(?![\w-])"
    r"|(?<![\w.,+/:-])\(?0[1-9][0-9]{1,4}\)?(?: ?[/–-] ?| )[0-9]{2,8}(?:[ -]?[0-9]{1,8}){0,4}(?![\w.,:/-]*[\w:/])"
)
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30}(?!\w)")
_IBAN_LENGTHS = {
    **{
        "DE": 22,
        "AT": 20,
        "CH": 21,
        "LI": 21,
        "FR": 27,
        "IT": 27,
        "ES": 24,
        "NL": 18,
        "BE": 16,
        "LU": 20,
        "GB": 22,
        "IE": 22,
    },
    **{
        "PL": 28,
        "CZ": 24,
        "SK": 24,
        "HU": 28,
        "DK": 18,
        "SE": 24,
        "NO": 15,
        "FI": 18,
        "PT": 25,
        "GR": 27,
        "SI": 19,
        "HR": 21,
    },
}
_CARD = re.compile(r"(?<![\w.-])(?<![0-9] )[3-6](?:[ -]?[0-9]){12,18}(?![\w-]| [0-9])")
_FEWEST_PHONE_DIGITS = 7


def check(text: str) -> Iterator[Finding]:
    """`check` findings with masked excerpts. Addresses at example.* and reserved domains are not personal."""
    for number, line in enumerate(text.split("\n"), start=1):
        if "@" in line:
            yield from _mails(line, number)
        if any(char.isdigit() for char in line):
            yield from _numbers(line, number)


def _mails(line: str, number: int) -> Iterator[Finding]:
    for found in _MAIL.finditer(line):
        if not _EXAMPLE.match(found[2]):
            yield _finding("email", "An e-mail address", number, f"{found[1][:2]}…@{found[2]}")


def _numbers(line: str, number: int) -> Iterator[Finding]:
    taken: list[tuple[int, int]] = []
    for rule, what, pattern, valid in _KINDS:
        for found in pattern.finditer(line):
            if valid(found[0]) and not any(found.start() < end and start < found.end() for start, end in taken):
                taken.append(found.span())
                yield _finding(rule, what, number, f"{found[0][:4]}…")


def _finding(rule: str, what: str, line: int, excerpt: str) -> Finding:
    return Finding(
        level="check", rule=f"personal.{rule}", message=f"{what}; is it meant to be public?", line=line, excerpt=excerpt
    )


def _digits(text: str) -> str:
    return "".join(char for char in text if char in "0123456789")


def _is_iban(text: str) -> bool:
    """ISO 13616: the country's length, and 1 as remainder modulo 97 of the rearranged digits."""
    account = text.replace(" ", "").replace("-", "")
    if len(account) != _IBAN_LENGTHS.get(account[:2], len(account)) or not account.isascii():
        return False
    return int("".join(str(int(char, 36)) for char in account[4:] + account[:4])) % 97 == 1


def _is_card(text: str) -> bool:
    """Luhn's checksum over 13 to 19 digits that are not all the same."""
    digits = [int(char) for char in _digits(text)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_phone(text: str) -> bool:
    return len(_digits(text)) >= _FEWEST_PHONE_DIGITS


_KINDS = (
    ("iban", "A bank account (IBAN)", _IBAN, _is_iban),
    ("card", "A payment card number", _CARD, _is_card),
    ("phone", "A phone number", _PHONE, _is_phone),
)
