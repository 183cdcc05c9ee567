"""Holes in an nginx.conf, as a hand could make them, are found by name."""

from pathlib import Path

import pytest

from infra.nginx.config import Edge, Front, render
from infra.nginx.lint import faults_of
from infra.prove.areas.edge import check_logs, examine
from infra.prove.check import Book
from shared.errors import Refused

HOME = Path("/var/lib/edge")


def an_edge(**changes: object) -> Edge:
    fronts = {
        name: Front(f"https://{name}.example", (f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}"))
        for name, port in (("console", 1), ("site", 3), ("workspace", 5))
    }
    return Edge(**{**fronts, "certificate": HOME / "c", "key": HOME / "k", "home": HOME, **changes})  # type: ignore[arg-type]


SOUND = render(an_edge())


def test_what_is_generated_has_no_fault() -> None:
    for text in (SOUND, render(an_edge(cache_header=True, user="www-data", listen_http=()))):
        assert {says: found for says, found in faults_of(text, "site.example").items() if found} == {}


HOLES = [
    ("proxy_cache_use_stale off;", "proxy_cache_use_stale error;", "proxy_cache_use_stale error"),
    ("proxy_cache_background_update off;", "proxy_cache_background_update on;", "background_update on"),
    ("proxy_cache_valid 200 1s;", "proxy_cache_valid 200 60s;", "60s"),
    ("proxy_cache_valid 200 1s;", "proxy_cache_valid any 1s;", "any"),
    ("proxy_cache_valid 200 1s;", "proxy_cache_valid 200 1s; proxy_cache_valid 404 1s;", "404"),
    ("$edge_second $scheme", "$scheme", "lacks the second"),
    ("$scheme://$host$request_uri", "$request_uri", "mixes pages"),
    ("proxy_no_cache $edge_personal $edge_private;", "proxy_no_cache $edge_personal;", "private answers are kept"),
    ("proxy_no_cache $edge_personal $edge_private;", "", "private answers are kept"),
    ("proxy_cache_bypass $edge_personal;", "proxy_cache_bypass $arg_x;", "who has a cookie"),
    ("proxy_cache off;", "proxy_cache site;", "is cached in console.example"),
    ("(private|no-store|no-cache|s-maxage=0)", "(no-store)", "the map $edge_private"),
    ("default 1;\n    \"~*(private", "default 0;\n    \"~*(private", "the map $edge_private"),
    ("ignore_headers Cache-Control Expires", "ignore_headers Set-Cookie Cache-Control Expires", "Set-Cookie are kept"),
    ("ignore_headers Cache-Control Expires X-Accel-Expires", "ignore_headers", "longer than a second"),
    ("X-Forwarded-For $remote_addr;", "X-Forwarded-For $proxy_add_x_forwarded_for;", "$proxy_add_x_forwarded_for"),
    ("proxy_set_header X-Forwarded-For $remote_addr;", "", "what the client sent"),
    ("location /signals/ {", "location /signals/ { proxy_set_header Host site.example;", "what the client sent"),
    ("proxy_set_header Host site.example;", "proxy_set_header Host $http_host;", "Host is not fixed"),
    ("server_tokens off;", "server_tokens off; set_real_ip_from 0.0.0.0/0; real_ip_header X-Real-IP;", "comes from a header"),
    ("$edge_path", "$request_uri", "writes $request_uri"),
    ('"status":"$status"', '"agent":"$http_referer","status":"$status"', "$http_referer"),
    ('"status":"$status"', '"to":"$sent_http_location","status":"$status"', "$sent_http_location"),
    ("access.log public;", "access.log;", "writes whole request lines"),
    ("access.log inside;", "access.log combined;", "writes whole request lines"),
    ("error.log emerg;", "error.log error;", "repeats request lines"),
    ("welcome|set-password", "set-password", "the map $edge_path"),
    ("return 444;", "return 200;", "answers for unknown host names"),
    ("ssl http2 default_server;", "ssl http2;", "answers for unknown host names"),
    ('if ($ssl_server_name != "site.example")', "if ($http_x)", "opened for another name"),
    ("TLSv1.2 TLSv1.3;", "TLSv1 TLSv1.2 TLSv1.3;", "ssl_protocols TLSv1 "),
    ('add_header Strict-Transport-Security "max-age=31536000" always;', "", "no HSTS"),
    ("location = /live {", "location = /live { add_header X-A b;", "no HSTS"),
    ("server_tokens off;", "", "the version of nginx is shown"),
    ("limit_req zone=sign_in burst=20 nodelay;", "", "no limit on signing in"),
    ("limit_conn connections 256;", "", "no limit on connections"),
    ("client_max_body_size 64k;", "client_max_body_size 0;", "client_max_body_size 0"),
]  # fmt: skip


@pytest.mark.parametrize(("sound", "hole", "found_by"), HOLES)
def test_a_hole_is_found(sound: str, hole: str, found_by: str) -> None:
    assert sound in SOUND
    text = SOUND.replace(sound, hole)
    book = Book("edge")
    examine(book, "test", text.encode(), "site.example")
    found = [f"{check.attempt}: {check.got}" for check in book.checks if check.failed]
    assert any(found_by in each for each in found), found


@pytest.mark.parametrize("text", ["http {", "}", "http { server { listen 1", "http { 'x }", "http { ; }", "\xff\xfe"])
def test_what_cannot_be_read_is_no_pass(text: str) -> None:
    book = Book("edge")
    examine(book, "test", text.encode("latin-1"), "site.example")
    assert [check.failed for check in book.checks] == [True]


def test_logs_that_others_can_read_are_found(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir(mode=0o755)
    for mode, failed in ((0o755, True), (0o700, False)):
        logs.chmod(mode)
        book = Book("edge")
        check_logs(book, logs)
        assert [check.failed for check in book.checks] == [failed]


@pytest.mark.parametrize(
    "changes",
    [
        {"site": Front("https://console.example", ("127.0.0.1:1",))},
        {"site": Front("http://site.example", ("127.0.0.1:1",))},
        {"site": Front("https://site.example", ())},
        {"site": Front("https://site.example", ("127.0.0.1:1; evil",))},
        {"site": Front("https://site.example;", ("127.0.0.1:1",))},
        {"home": Path("/var/lib/my edge")},
        {"resolver": "127.0.0.11"},
    ],
)
def test_what_cannot_be_sound_is_not_generated(changes: dict[str, object]) -> None:
    with pytest.raises(Refused):
        render(an_edge(**changes))
