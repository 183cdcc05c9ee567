"""What goes wrong with a mail server, as typed errors that say what to do. None holds what the server said, nor the exception that did.

A hostile server repeats what it was sent, the password too; so of its answers only codes are told.
"""

import imaplib
import re
import ssl

from imapclient.exceptions import ProtocolError

from shared.errors import Permanent, Refused, SchleuseError, TooLarge, Transient

HOSTILE = (
    imaplib.IMAP4.error,
    ProtocolError,
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    RuntimeError,
    ArithmeticError,
)
"""What reading an answer can raise when it is not what the protocol says. SchleuseErrors are none of these."""
_ENHANCED = re.compile(r"\s*([245]\.\d{1,3}\.\d{1,3})\b")
MEANINGS = {
    "1.1": "there is no such mailbox",
    "1.2": "there is no such domain",
    "1.3": "the address is not well-formed",
    "1.6": "the mailbox has moved",
    "1.10": "the domain takes no mail",
    "2.1": "the mailbox is switched off",
    "2.2": "the mailbox is full",
    "2.3": "the message is too long for the mailbox",
    "3.4": "the message is too long",
    "6.7": "it takes no mailboxes with letters beyond ASCII",
    "7.1": "it does not deliver for this account",
    "7.8": "user name or password is wrong",
}
"""Of enhanced status codes (RFC 3463), without their class."""


def explain(error: BaseException, where: str) -> SchleuseError:
    """For a failed connection or a broken answer. To be raised outside of the except block, so that nothing chains to `error`."""
    if isinstance(error, SchleuseError):
        return error
    if isinstance(error, ssl.SSLCertVerificationError):
        return Refused(
            f"{where} shows a certificate that does not fit ({_reason(error)}); correct the account's host, or ask its provider",
            code="tls",
        )
    if isinstance(error, ssl.SSLError):
        return Transient(
            f"no TLS connection to {where} came about; check the account's port and its security (tls or starttls)",
            code="tls",
        )
    if isinstance(error, TimeoutError):
        return Transient(f"{where} took too long; try again later", code="timeout")
    if isinstance(error, OSError | imaplib.IMAP4.abort):
        return Transient(f"{where} broke the connection off; try again later", code="broken_off")
    if isinstance(error, imaplib.IMAP4.error) and not isinstance(error, ProtocolError):
        return Permanent(
            f"{where} does not take this request; check the folder and what is asked of it", code="not_taken"
        )
    return Permanent(
        f"{where} does not answer as a mail server should; check the account's host and port", code="bad_answer"
    )


def no_starttls(where: str) -> SchleuseError:
    return Refused(
        f"{where} offers no STARTTLS, and a password is not sent in the open; set the account's security to tls, or another port",
        code="tls",
    )


def login_failed(where: str, unusual: bool) -> SchleuseError:
    """`unusual`: user name or password has characters that many servers cannot read (EM-01)."""
    if unusual:
        return Refused(
            f"{where} does not take such a user name or password: it has letters beyond ASCII or line breaks, which this server does not read, "
            "or it is wrong; set a password of ASCII letters at the provider, then rotate the secret",
            code="login_letters",
        )
    return Refused(
        f"{where} does not accept the user name or the password; rotate the secret of this account", code="login"
    )


def busy(where: str) -> SchleuseError:
    return Transient(f"{where} lets nobody in at the moment; try again later", code="busy")


def no_login(where: str) -> SchleuseError:
    return Permanent(
        f"{where} offers no way to sign in with a password (PLAIN or LOGIN); ask its provider", code="login_method"
    )


def too_large(where: str, limit: int) -> SchleuseError:
    return TooLarge(f"the answer of {where} is larger than {limit} bytes; ask for less", code="answer_too_large")


def meaning(code: int, text: str) -> str:
    """`550 5.1.1: there is no such mailbox`: of an SMTP answer, without its words."""
    found = _ENHANCED.match(text)
    if not found:
        return str(code)
    words = MEANINGS.get(found[1].partition(".")[2], "")
    return f"{code} {found[1]}" + (f": {words}" if words else "")


def _reason(error: ssl.SSLCertVerificationError) -> str:
    """OpenSSL's own words, by its code: the message that Python makes may name what the certificate says."""
    return {
        9: "it is not valid yet",
        10: "it has expired",
        18: "it is signed by itself",
        19: "its chain ends in a certificate that nobody here knows",
        20: "nobody here knows who signed it",
        62: "it is for another name",
        64: "it is for another address",
    }.get(error.verify_code, "it cannot be verified")
