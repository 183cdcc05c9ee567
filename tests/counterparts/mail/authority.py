"""A private certificate authority for one test run, and certificates that fit or do not."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Authority:
    """`path`: its own certificate, for whoever is to trust it."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def path(self) -> Path:
        return self.folder / "authority.pem"

    def issue(self, *names: str, days: int = 2, begins: int = -1) -> tuple[Path, Path]:
        """(certificate, key) for these names; valid from `begins` days on."""
        key = ec.generate_private_key(ec.SECP256R1())
        base = self.folder / f"{names[0]}-{days}-{begins}"
        made = _build(x509.Name([]), self.certificate.subject, key, begins, days)
        made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=True)
        return _write(base, made.sign(self.key, hashes.SHA256()), key)

    def server_context(self, *names: str, days: int = 2, begins: int = -1) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*self.issue(*names, days=days, begins=begins))
        return context


def new_authority(folder: Path) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Mail of the tests")])
    made = _build(name, name, key, -1, 2).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    certificate = made.sign(key, hashes.SHA256())
    (folder / "authority.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return Authority(folder, key, certificate)


def _build(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, begins: int, days: int
) -> x509.CertificateBuilder:
    start = datetime.now(UTC) + timedelta(days=begins)
    builder = x509.CertificateBuilder(subject_name=subject, issuer_name=issuer, public_key=key.public_key())
    return (
        builder.serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=days))
    )


def _write(base: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> tuple[Path, Path]:
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    paths = base.with_suffix(".pem"), base.with_suffix(".key")
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(private)
    return paths
