"""Certificates for servers of the tests, by an authority of their own."""

import ssl
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from shared.clock import now

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    """`file`: its certificate, for `outward_ca`."""

    file: Path
    _certificate: x509.Certificate
    _key: ec.EllipticCurvePrivateKey

    def issue(self, name: str, *, expired: bool = False) -> Path:
        """A file with chain and key for that host."""
        key = ec.generate_private_key(ec.SECP256R1())
        until = now() - DAY if expired else now() + DAY
        made = (
            _builder(name, self._certificate.subject, key, until)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        path = self.file.parent / f"{name}{'-expired' if expired else ''}.pem"
        path.write_bytes(made.public_bytes(Encoding.PEM) + _pem(key))
        return path

    def context(self, name: str, *, expired: bool = False) -> ssl.SSLContext:
        """For a server of that name."""
        made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        made.load_cert_chain(self.issue(name, expired=expired))
        return made


def authority(folder: Path) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of the tests")])
    made = (
        _builder("", name, key, now() + DAY, subject=name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "authority.pem"
    file.write_bytes(made.public_bytes(Encoding.PEM))
    return Authority(file, made, key)


def _builder(host, issuer, key, until, subject=None):  # type: ignore[no-untyped-def]
    return (
        x509.CertificateBuilder()
        .subject_name(subject or x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now() - 3 * DAY)
        .not_valid_after(until)
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
