"""nginx's files: its configuration, and a certificate made by ourselves unless one was given."""

import ssl
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from infra.docker import addresses
from infra.docker.settings import Asked
from infra.local import folders
from infra.nginx.config import CONSOLE_BODY, WORKSPACE_BODY, Edge, Front, render
from shared.clock import now
from shared.errors import Refused

HOME = Path("/tmp/nginx")  # noqa: S108 - a file system of its own in memory, nginx's alone
PLACE = Path("/etc/schleuse")
CERTIFICATE, KEY, LINKS = "fullchain.pem", "privkey.pem", "links.conf"
SPOOL = Path("/state/spool")
VALID = timedelta(days=397)
RENEWED_BEFORE = timedelta(days=30)


def write_edge(wishes: Asked, ports: dict[str, int], place: Path, given: Path, uid: int) -> None:
    """Into nginx's own volume. Refused when the given certificate and key do not belong together."""
    owner = (uid, uid)
    folders.check_folder(place, 0o750, (0, uid))
    certificate, key = _given(given) or _made(place, wishes.hosts.values())
    folders.write(place / KEY, key, 0o600, owner)
    folders.write(place / CERTIFICATE, certificate, 0o644, owner)
    folders.write(place / "nginx.conf", configuration(wishes, ports), 0o644, owner)


def configuration(wishes: Asked, ports: dict[str, int]) -> str:
    where = addresses.fronts(wishes.net)
    upstream = {front: (f"{where[front]}:{ports[front]}",) for front in where}
    return render(
        Edge(
            console=Front(wishes.urls["console"], upstream["console"], CONSOLE_BODY),
            site=Front(wishes.urls["site"], upstream["site"]),
            workspace=Front(wishes.urls["workspace"], upstream["workspace"], WORKSPACE_BODY),
            certificate=PLACE / CERTIFICATE,
            key=PLACE / KEY,
            home=HOME,
            listen_tls=(str(wishes.port),),
            listen_http=(),
            access_log="/dev/stdout",
            error_log="stderr",
            connections=512,
            spool=SPOOL,
            links=PLACE / LINKS,
        )
    )


def _given(place: Path) -> tuple[str, str] | None:
    """The administrator's own, when both files are there."""
    certificate, key = place / CERTIFICATE, place / KEY
    if not certificate.exists() and not key.exists():
        return None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        return certificate.read_text(), key.read_text()
    except (OSError, ssl.SSLError) as error:
        raise Refused(
            f"the given certificate cannot be used: {CERTIFICATE} and {KEY} must lie side by side and belong together ({error})"
        ) from None


def _made(place: Path, hosts: Iterable[str]) -> tuple[str, str]:
    """Self-signed for these names; the one that is there while it is good."""
    wanted = sorted(hosts)
    certificate, key = place / CERTIFICATE, place / KEY
    if certificate.exists() and key.exists() and _is_good(certificate.read_bytes(), wanted):
        return certificate.read_text(), key.read_text()
    return _make(wanted)


def _is_good(pem: bytes, hosts: list[str]) -> bool:
    found = x509.load_pem_x509_certificate(pem)
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value.get_values_for_type(
        x509.DNSName
    )
    return sorted(names) == hosts and found.not_valid_after_utc - now() > RENEWED_BEFORE


def _make(hosts: list[str]) -> tuple[str, str]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Schleuse, self-signed")])
    start = now() - timedelta(hours=1)
    made = (
        x509.CertificateBuilder(subject_name=name, issuer_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + VALID)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made.public_bytes(serialization.Encoding.PEM).decode(), private.decode()
