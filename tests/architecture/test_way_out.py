"""Nothing but connectors' egress package opens a connection that could leave the machine (rule 26)."""

import ast

from tests.architecture.test_boundaries import name, sources

DIALS = {"open_connection", "create_connection", "sock_connect", "getaddrinfo", "gethostbyname", "urlopen", "HTTPConnection", "HTTPSConnection", "SMTP"}  # fmt: skip
"""Allowed with a `sock` that is connected already."""
CLIENTS = {"Client", "AsyncClient", "get", "post", "put", "request", "stream"}
LIBRARIES = {"requests", "urllib.request", "http.client", "ftplib", "smtplib", "imaplib", "poplib", "telnetlib", "httpx", "aiohttp", "httpcore2"}  # fmt: skip
EGRESS = "services/connectors/egress/"
IMAP = "services/connectors/kinds/mailing/"
"""Its protocol class opens nothing: `open` takes the socket of the wire that it was made with."""


def test_services_dial_through_the_guard_only() -> None:
    found = []
    for path in sources("services"):
        for node in ast.walk(ast.parse(path.read_text())):
            if name(path).startswith(EGRESS) or not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func).rpartition(".")[2]
            if called in DIALS and "sock" not in {each.arg for each in node.keywords}:
                found.append(f"{name(path)}:{node.lineno} {called}")
    assert not found, "connections are made by services.connectors.egress; take a Way"


def test_services_import_no_library_that_dials_by_itself() -> None:
    found = []
    for path in sources("services"):
        if name(path).startswith(EGRESS):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""] if isinstance(node, ast.ImportFrom) else []  # fmt: skip
            found += [f"{name(path)}:{node.lineno} {module}" for module in modules if module in LIBRARIES and not (module == "imaplib" and name(path).startswith(IMAP))]  # fmt: skip
    assert not found


def test_http_clients_of_the_services_are_given_the_guards_transport() -> None:
    found = []
    for path in sources("services"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if ast.unparse(node.func.value) == "httpx2" and node.func.attr in CLIENTS:
                given = {each.arg for each in node.keywords}
                if "transport" not in given:
                    found.append(f"{name(path)}:{node.lineno} httpx2.{node.func.attr} without a transport")
    assert not found
