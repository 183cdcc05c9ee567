#!/bin/sh
# Debian's nftables for the tests of the firewall; installed when missing and root. Its service stays off: nothing but our own table is ever put in.
set -eu
for tool in /usr/sbin/nft /sbin/nft /usr/sbin/iptables /sbin/iptables; do
  if [ -x "$tool" ]; then exit 0; fi
done
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  echo "Installing nftables for the tests of the firewall"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  apt-get -qq -y install --no-install-recommends nftables >/dev/null
  exit 0
fi
echo "nftables is missing: the tests of the firewall will be skipped (Debian: apt-get install nftables)" >&2
