"""CSV as people have it: encodings, marks, separators, formulas, bad lines by number; all good rows or none; what was exported reads back."""

from typing import Any

import pytest

from services.console.imports.domain import Options
from services.console.imports.usecases.import_file import Report, import_file
from services.console.imports.usecases.send_file import add_piece, begin_file
from services.console.records.domain import shape_of
from services.console.records.exporting import as_csv, as_json
from shared.errors import Refused
from tests.services.console.records.conftest import TOM, Shop


async def bring(shop: Shop, raw: bytes, table: str = "customers", *, dry_run: bool = False, **options: Any) -> Report:
    async with shop.desk.db.transaction() as tx:
        sent = await begin_file(tx, shop.app, table, TOM, "file.csv", Options(**options))
        half = len(raw) // 2
        await add_piece(tx, sent, TOM, 0, raw[:half])
        await add_piece(tx, sent, TOM, 1, raw[half:])
    return await import_file(shop.desk.db, sent, TOM, dry_run=dry_run)


def sheet(mark: str, delimiter: str = ";") -> str:
    """A customer whose name has an umlaut, the separator and a line break, in quotes."""
    cells = ("Code", "name", "Country", "credit")
    row = (mark, f'"Müller{delimiter} ""Söhne""\nGmbH"', "NULL", "12,50" if delimiter != "," else '"12.50"')
    return f"{delimiter.join(cells)}\r\n{delimiter.join(row)}\r\n"


FILES = {
    "utf8": sheet("utf8").encode(),
    "mark": sheet("mark", ",").encode("utf-8-sig"),
    "utf16": sheet("utf16", "\t").encode("utf-16"),
    "utf16le": sheet("utf16le").encode("utf-16-le"),
    "cp1252": sheet("cp1252").encode("cp1252"),
    "sep": b"sep=|\r\n" + sheet("sep", "|").replace("12,50", "12.50").encode(),
}


async def test_encodings_marks_and_separators_are_found_out(shop: Shop) -> None:
    for raw in FILES.values():
        report = await bring(shop, raw)
        assert (report.added, report.bad_count) == (1, 0)
    rows = await shop.rows("customers")
    assert {row["code"] for row in rows} == set(FILES)
    for row in rows:
        assert row["name"].replace("\r\n", "\n")[:6] == "Müller"
        assert (str(row["credit"]), row["country"]) == ("12.50", None)
    entries = await shop.history("customers")
    assert {each["how"] for each in entries} == {"import"}


BAD = b"""code,name,credit,since
a,Anna,1.5,2026-01-31
b,,1,2026-01-31
c,Cleo,1;5,2026-01-31
"d","Two
lines",2,31.02.2026
a,Again,3,
e,Eve,4
f,Fay,5,,,
old,Old,1,
g,Gus,6,2026-02-28
"""


async def test_bad_lines_are_named_and_nothing_is_kept_unless_they_may_be_left_out(shop: Shop) -> None:
    await shop.add("customers", {"code": "old", "name": "Old"})
    tried = await bring(shop, BAD, dry_run=True)
    assert [each.line for each in tried.bad] == [3, 4, 5, 7, 8, 9, 10]
    assert (tried.rows, tried.added) == (9, 2)
    assert "must not be empty" in tried.bad[0].words
    assert "line 2 already" in tried.bad[3].words
    await bring(shop, BAD)
    assert len(await shop.rows("customers")) == 1
    assert (await bring(shop, BAD, leave_bad=True)).added == 2
    changed = await bring(shop, b"code,name\na,Anne\ng,Gus\nnew,N\n", replace=True)
    assert (changed.added, changed.changed) == (1, 1)
    [renamed] = [each for each in await shop.history("customers") if each["what"] == "changed"]
    assert (renamed["row_key"], renamed["by_name"]) == ('["a"]', "Tom Brandt")


async def test_a_separator_that_nobody_quoted_is_part_of_the_value_and_the_line_is_named(shop: Shop) -> None:
    report = await bring(shop, b"code,name,country\nA,24, place X,France\nB,b,c,d\nC,x, y, z\n", leave_bad=True)
    assert (report.added, report.mended, [each.line for each in report.bad]) == (1, [2], [3, 4])
    assert [row["name"] for row in await shop.rows("customers")] == ["24, place X"]


UNREADABLE = {
    b"": "is empty",
    b"\x81\x8d": "save it as UTF-8",
    b"code,name,nope\n": "no column for 'nope'",
    b"code,code,name\n": "code twice",
    b"country\nx\n": "no column code, name",
    b'code,name\na,"never closed\nb,c\n': "quote does not close",
    b"\xff\xfe\x00": "UTF-16",
}


async def test_what_cannot_be_read_says_why(shop: Shop) -> None:
    for raw, says in UNREADABLE.items():
        with pytest.raises(Refused, match=says):
            await bring(shop, raw or b"\n")
    assert await shop.rows("customers") == []


async def test_references_within_the_file_and_to_other_tables_are_looked_at(shop: Shop) -> None:
    await shop.add("customers", {"code": "A", "name": "Anna"})
    report = await bring(shop, b"customer,note\nA,x\nB,y\n,z\n", "orders", leave_bad=True)
    assert [(each.line, each.words) for each in report.bad] == [(3, "customer: customers has no row with this code.")]
    assert report.added == 2


async def test_formulas_are_tamed_in_a_file_and_come_back_as_they_were(shop: Shop) -> None:
    names = ["=1+1", "+49 30", "-x", "@sum", "'=quoted", "\tx", "\uff1d1+1", "'plain", "<script>alert(1)</script>"]
    await shop.add(
        "customers", *({"code": str(number), "name": name, "credit": "-5"} for number, name in enumerate(names))
    )
    shape = shape_of(shop.app, "customers")
    raw = b"".join([part async for part in as_csv(shop.desk.db, shape, ())])
    for cell in ("'=1+1", "'+49 30", "''=quoted", "'\uff1d1+1"):
        assert cell in raw.decode()
    assert ",-5," in raw.decode()
    assert b'"name": "=1+1"' in b"".join([part async for part in as_json(shop.desk.db, shape, ())])
    assert (await bring(shop, raw, replace=True)).changed == 0
    assert [row["name"] for row in await shop.rows("customers")] == names


async def test_a_line_whose_key_no_address_could_name_is_bad(shop: Shop) -> None:
    report = await bring(shop, f"code,name\n{'x' * 5000},B\nA,A\n".encode(), leave_bad=True)
    assert (report.added, report.bad_count) == (1, 1)
