"""The bus's certificate: made by itself, trusted by nobody but our own clients, who know exactly this one."""

from collections.abc import Iterable
from datetime import UTC, datetime
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

SERVER_NAME = "localhost"
# Pinned, so its age says nothing; wide limits keep a clock that steps back from stopping the bus.
VALID = (datetime(2020, 1, 1, tzinfo=UTC), datetime(2120, 1, 1, tzinfo=UTC))

PURPOSES = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)
"""Servers of a cluster show it to each other, so it serves both ends of a route."""


def make(names: Iterable[str] = ()) -> tuple[str, str]:
    """(certificate, private key), both PEM. `names`: host names and addresses of servers beyond this machine's own."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "schleuse bus")])
    hosts = x509.SubjectAlternativeName([_name(each) for each in dict.fromkeys((SERVER_NAME, "127.0.0.1", *names))])
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=False, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    certificate = (
        x509.CertificateBuilder(subject_name=name, issuer_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(VALID[0])
        .not_valid_after(VALID[1])
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage(PURPOSES), critical=False)
        .add_extension(hosts, critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), private.decode()


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def serves(certificate: bytes, names: Iterable[str] = ()) -> bool:
    """Whether a certificate holds these names and serves both ends of a route."""
    found = x509.load_pem_x509_certificate(certificate)
    usage = found.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    held = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return set(PURPOSES) <= set(usage) and all(_name(each) in held for each in names)
