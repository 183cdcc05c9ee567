#!/bin/sh
# Debian's nginx for the tests of the edge; installed when missing and root, and not started by the installation.
set -eu
if [ -x /usr/sbin/nginx ] || command -v nginx >/dev/null; then exit 0; fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  echo "Installing nginx for the tests of the edge"
  export DEBIAN_FRONTEND=noninteractive
  rule=/usr/sbin/policy-rc.d
  if [ ! -e "$rule" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$rule"
    chmod 755 "$rule"
    trap 'rm -f "$rule"' EXIT
  fi
  apt-get -qq update
  apt-get -qq -y install --no-install-recommends nginx-light >/dev/null
  exit 0
fi
echo "nginx is missing: the tests of the edge will be skipped (Debian: apt-get install nginx-light)" >&2
