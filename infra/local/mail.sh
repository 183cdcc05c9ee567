#!/bin/sh
# Debian's Dovecot for the tests of mail; installed when missing and root, and not started by the installation.
set -eu
if [ -x /usr/sbin/dovecot ] || command -v dovecot >/dev/null; then exit 0; fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Dovecot for the tests of mail"
  export DEBIAN_FRONTEND=noninteractive
  rule=/usr/sbin/policy-rc.d
  if [ ! -e "$rule" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$rule"
    chmod 755 "$rule"
    trap 'rm -f "$rule"' EXIT
  fi
  apt-get -qq update
  apt-get -qq -y install --no-install-recommends dovecot-core dovecot-imapd >/dev/null
  exit 0
fi
echo "Dovecot is missing: the tests against a real mailbox will be skipped (Debian: apt-get install dovecot-imapd)" >&2
