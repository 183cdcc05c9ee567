"""Rule 30a by examples, and lines that are not what they should be."""

from uuid import UUID

import pytest

from infra.cli.access_log import read_views

LINE = '198.18.0.1 - - [17/May/2015:10:05:03 +0000] "{request}" {status} 12 "-" "Agent \\"quoted\\" 1.0"'


def views(request: str, status: int = 200) -> list[str]:
    return [view.path for view in read_views([LINE.format(request=request, status=status)]) if view]


@pytest.mark.parametrize(
    ("request_line", "path"),
    [
        ("GET / HTTP/1.1", "/"),
        ("GET /blog/ HTTP/1.1", "/blog/"),
        ("GET /blog/tags/x?flav=rss20 HTTP/1.1", "/blog/tags/x"),
        ("GET /a.b/c HTTP/1.1", "/a.b/c"),
        ("GET /page.html HTTP/1.0", "/page.html"),
        ("GET /page.xhtml HTTP/1.1", "/page.xhtml"),
        ("GET http://example.org/over/proxy HTTP/1.1", "/over/proxy"),
        ("GET /a%20b HTTP/1.1", "/a%20b"),
    ],
)
def test_page_views(request_line: str, path: str) -> None:
    assert views(request_line) == [path]
    assert views(request_line, 304) == [path]


@pytest.mark.parametrize(
    "request_line",
    [
        "GET /x.png HTTP/1.1",
        "GET /x.php HTTP/1.1",
        "GET /PAGE.HTML HTTP/1.1",
        "POST / HTTP/1.1",
        "HEAD / HTTP/1.1",
        "GET /page.html%20x= HTTP/1.1",
        "-",
        "",
        "\\x16\\x03",
    ],
)
def test_what_is_no_page_view(request_line: str) -> None:
    assert views(request_line) == []


@pytest.mark.parametrize("status", [206, 301, 404, 500])
def test_other_statuses_are_no_page_views(status: int) -> None:
    assert views("GET / HTTP/1.1", status) == []


@pytest.mark.parametrize(
    "line", ["", "no log line", LINE[:30], '1.2.3.4 - - [99/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 1']
)
def test_broken_lines_are_skipped(line: str) -> None:
    assert list(read_views([line])) == [None]


def test_the_short_format_is_read_too_and_a_name_with_spaces() -> None:
    [view] = read_views(['::1 - J. Doe [17/May/2015:10:05:03 +0200] "GET /a HTTP/1.1" 200 -'])
    assert view is not None
    assert (view.address, view.agent, view.at.isoformat()) == ("::1", "", "2015-05-17T10:05:03+02:00")


def test_the_same_line_twice_is_two_views_and_a_repeat_is_none() -> None:
    run = UUID(int=1)
    one, two = (
        view.wire(run)["id"] for view in read_views([LINE.format(request="GET / HTTP/1.1", status=200)] * 2) if view
    )
    again = next(
        view.wire(run)["id"] for view in read_views([LINE.format(request="GET / HTTP/1.1", status=200)]) if view
    )
    assert one == again != two
