"""CSV as it comes: encodings, marks, separators, quotes, headers in other spellings. Pure; Refused says what to do."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from services.console.records.domain import NUMBER, Shape
from services.console.records.values import LONGEST
from shared.errors import Refused

ENCODINGS = {"utf-8": "UTF-8", "utf-16": "UTF-16", "windows-1252": "Windows-1252"}
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
MOST_BYTES = 64 * 1024 * 1024
MOST_ROWS = 1_000_000
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_FORMULA = r"[=+\-@\t\r＝＋－＠]"
"""What a spreadsheet takes for the beginning of one, the wide signs of Japanese keyboards too."""
_TAMED = re.compile(rf"'+{_FORMULA}")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
csv.field_size_limit(LONGEST * 4)


@dataclass(frozen=True)
class Options:
    """How a person says that the file is to be read; empty: found out. `null`: the word for no value. `skip`: columns of the file left out;

    `skip_unknown`: those that the table has not. `replace`: a row whose key is there changes it. `leave_bad`: good rows come in without the bad ones.
    """

    encoding: str = ""
    delimiter: str = ""
    null: str = "NULL"
    skip: tuple[str, ...] = ()
    skip_unknown: bool = False
    replace: bool = False
    leave_bad: bool = False


@dataclass(frozen=True)
class Sheet:
    """A file that was read. `columns`: of the table by position in the file, None for one left out. `comma`: decimals have a comma."""

    encoding: str
    delimiter: str
    header: tuple[str, ...]
    columns: tuple[str | None, ...]
    text: str = field(repr=False)
    comma: bool = False

    @property
    def spaced(self) -> bool:
        """Whether separators are followed by a space everywhere."""
        return any(each.startswith(" ") for each in self.header)

    @property
    def left_out(self) -> list[str]:
        return [name for name, column in zip(self.header, self.columns, strict=True) if column is None]


def open_sheet(shape: Shape, raw: bytes, options: Options) -> Sheet:
    """Refused when it cannot be read as text, has no header, or columns that do not fit the table."""
    if len(raw) > MOST_BYTES:
        raise Refused(f"A file has at most {MOST_BYTES // 1024 // 1024} MiB; send it in parts.", code="too_large")
    encoding, text = decode(raw, options.encoding)
    text, told = _told_delimiter(text)
    delimiter = _delimiter(shape, text, options.delimiter or told)
    header = next((cells for _, cells in rows_of(text, delimiter)), None)
    if header is None:
        raise Refused("The file is empty: its first line names the columns.", code="empty")
    columns = _match(shape, header, options)
    return Sheet(encoding, delimiter, tuple(header), columns, text, comma=delimiter in {";", "\t"})


def decode(raw: bytes, wanted: str) -> tuple[str, str]:
    """The encoding's name and the text. Without a mark it is UTF-8, UTF-16 where every other byte is zero, else Windows-1252."""
    if wanted and wanted.lower() not in ENCODINGS:
        raise Refused(f"The encoding is one of {', '.join(ENCODINGS.values())}.", code="encoding")
    marked = next((name for mark, name in _MARKS if raw.startswith(mark)), "")
    tries = [marked] if marked and not wanted else [wanted.lower()] if wanted else _guesses(raw)
    for name in tries:
        try:
            text = raw.decode({"windows-1252": "cp1252", "utf-8": "utf-8-sig"}.get(name, name))
        except UnicodeDecodeError as error:
            fault = error
            continue
        return ENCODINGS.get(name, ENCODINGS["utf-8"] if "8" in name else ENCODINGS["utf-16"]), text.removeprefix(
            "\ufeff"
        )
    raise Refused(
        f"The file is not {' or '.join(ENCODINGS.get(each, 'UTF-8') for each in tries)} (byte {fault.start:,}); save it as UTF-8 and send it again.",
        code="encoding",
    )


def _guesses(raw: bytes) -> list[str]:
    some = raw[:4000]
    if some.count(0) > len(some) // 4:
        return ["utf-16-be" if some[0:1] == b"\0" else "utf-16-le"]
    return ["utf-8", "windows-1252"]


def _told_delimiter(text: str) -> tuple[str, str]:
    """`sep=;` in the first line is Excel's word for it."""
    first, _, rest = text.partition("\n")
    found = re.fullmatch(r"sep=(.)\r?", first)
    return (rest, found[1]) if found else (text, "")


def _delimiter(shape: Shape, text: str, wanted: str) -> str:
    named = {word: sign for sign, word in DELIMITERS.items()}
    if wanted:
        sign = named.get(wanted, wanted)
        if sign not in DELIMITERS:
            raise Refused(f"The separator is one of {', '.join(DELIMITERS.values())}.", code="delimiter")
        return sign
    known = {spelled(each) for each in shape.columns}
    scores = {}
    for sign in DELIMITERS:
        header = next((cells for _, cells in rows_of(text[:100_000], sign)), [])
        scores[sign] = (sum(spelled(each) in known for each in header), len(header))
    return max(scores, key=lambda sign: scores[sign])


def rows_of(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells), the line being where the row begins; empty lines are passed over. Refused for quotes that do not close."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=False)
    line = 1
    try:
        for cells in reader:
            if cells and any(cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise Refused(f"Line {line:,}: the file cannot be read as CSV ({error}).", code="csv") from None


def spelled(name: str) -> str:
    """`customerID`, `Customer ID` and `customer-id` are all `customer_id`."""
    parts = re.split(r"[\s\-_.]+", _WORDS.sub("_", name.strip()))
    return "_".join(each.lower() for each in parts if each)


def _match(shape: Shape, header: Sequence[str], options: Options) -> tuple[str | None, ...]:
    names = {spelled(name): name for name in shape.columns}
    names |= {
        spelled(each.title): each.name
        for each in shape.columns.values()
        if each.title and spelled(each.title) not in names
    }
    skipped = {spelled(each) for each in options.skip}
    columns = [None if spelled(each) in skipped else names.get(spelled(each)) for each in header]
    unknown = [
        each for each, column in zip(header, columns, strict=True) if column is None and spelled(each) not in skipped
    ]
    if unknown and not options.skip_unknown:
        some = ", ".join(repr(each[:40]) for each in unknown[:8])
        raise Refused(f"{shape.name} has no column for {some}; leave columns out that it does not have, or add them to the app. It has {', '.join(list(shape.columns)[:40])}.", code="header")  # fmt: skip
    twice = [name for name, times in Counter(each for each in columns if each).items() if times > 1]
    if twice:
        raise Refused(f"The file has {', '.join(twice)} twice.", code="header")
    missing = [
        each.name
        for each in shape.columns.values()
        if each is not NUMBER and (each.required or each.name in shape.key) and each.name not in columns
    ]
    if missing:
        raise Refused(f"The file has no column {', '.join(missing)}, and every row needs one.", code="header")
    return tuple(columns)


def cell(text: str, null: str) -> str:
    """What a cell says: nothing for the word that stands for no value; an apostrophe that tamed a formula is taken off."""
    if null and text == null:
        return ""
    return text[1:] if _TAMED.match(text) else text


def tamed(text: str) -> str:
    """Text that no spreadsheet takes for a formula; `cell` gives it back."""
    return f"'{text}" if re.match(rf"'*{_FORMULA}", text) else text
