"""Debian's Dovecot, started by the test run on loopback ports of its own: one file of accounts, mail in folders, a certificate by the run's authority."""

import base64
import grp
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path

import pytest

from shared.testing.servers import short_folder
from tests.counterparts.certificates import Authority
from tests.factories.waiting import until

DOVECOT = shutil.which("dovecot", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
CONFIG = """
base_dir = {home}/run
state_dir = {home}/state
log_path = {home}/log
auth_verbose = yes
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_cert = <{certificate}
ssl_key = <{certificate}
auth_mechanisms = {mechanisms}
auth_username_chars =
auth_failure_delay = 0
{users}
mail_location = maildir:~/Maildir
mail_max_userip_connections = 100
passdb {{
  driver = passwd-file
  args = username_format=%u {home}/accounts
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={home}/mail/%Mu
}}
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service imap-login {{
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = {imaps}
  }}
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox Sent {{
    special_use = \\Sent
    auto = create
  }}
}}
"""
ONE_USER = """
default_internal_user = {user}
default_login_user = {user}
default_internal_group = {group}
service anvil {{
  chroot =
}}
service imap-login {{
  chroot =
}}
service stats {{
  chroot =
}}
"""


@dataclass
class Dovecot:
    """`imap`: greets in the open and offers STARTTLS. `imaps`: TLS from the start."""

    home: Path
    imap: int
    imaps: int

    @property
    def log(self) -> str:
        return (self.home / "log").read_text(errors="replace")

    def folder(self, username: str) -> Path:
        return self.home / "mail" / md5(username.encode(), usedforsecurity=False).hexdigest() / "Maildir"

    def deliver(self, username: str, raw: bytes, folder: str = "") -> None:
        """Put a message into the mailbox, byte for byte. `folder`: in modified UTF-7, for a Maildir name."""
        box = self.folder(username) / folder
        for each in (self.folder(username).parent, self.folder(username), box, box / "tmp", box / "new", box / "cur"):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = box / "new" / f"{len(list((box / 'new').iterdir())) + 1:06d}.{os.urandom(6).hex()}.tests"
        target.write_bytes(raw)
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "65534:65534", str(self.home / "mail")], check=True)


@contextmanager
def running_dovecot(
    authority: Authority, accounts: Mapping[str, str], ports: tuple[int, int], mechanisms: str = "plain login"
) -> Iterator[Dovecot]:
    """`accounts`: password by user name, any text."""
    if DOVECOT is None:
        pytest.skip("Dovecot is missing (Debian: apt-get install dovecot-imapd); `make test` installs it where it may")
    home = short_folder("mail")
    for each in ("run", "state", "mail"):
        (home / each).mkdir(mode=0o755)
    _write(home, authority, accounts, ports, mechanisms)
    command = [DOVECOT, "-F", "-c", str(home / "dovecot.conf")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        until(lambda: (home / "run" / "master.pid").exists() or process.poll() is not None, 10, "Dovecot runs")
        assert process.poll() is None, (process.stderr.read() if process.stderr else b"").decode()
        yield Dovecot(home, *ports)
    finally:
        process.terminate()
        process.communicate(timeout=10)
        shutil.rmtree(home)


def _write(
    home: Path, authority: Authority, accounts: Mapping[str, str], ports: tuple[int, int], mechanisms: str
) -> None:
    lines = [
        f"{name}:{{PLAIN.b64}}{base64.b64encode(password.encode()).decode()}" for name, password in accounts.items()
    ]
    (home / "accounts").write_text("\n".join(lines) + "\n")
    certificate = authority.issue("localhost")
    root, user = os.geteuid() == 0, pwd.getpwuid(os.geteuid())
    one = "" if root else ONE_USER.format(user=user.pw_name, group=grp.getgrgid(user.pw_gid).gr_name)
    text = CONFIG.format(
        home=home, certificate=certificate, mechanisms=mechanisms, users=one, imap=ports[0], imaps=ports[1],
        uid=65534 if root else user.pw_uid, gid=65534 if root else user.pw_gid,
    )  # fmt: skip
    (home / "dovecot.conf").write_text(text)
