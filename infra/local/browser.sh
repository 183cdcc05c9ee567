#!/bin/sh
# Debian's Chromium for the web tests; installed when missing and root.
set -eu
if command -v chromium >/dev/null || command -v chromium-browser >/dev/null; then exit 0; fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  echo "Installing Chromium for the web tests"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  apt-get -qq -y install --no-install-recommends chromium fonts-dejavu-core >/dev/null
  exit 0
fi
echo "Chromium is missing: the web tests will be skipped (Debian: apt-get install chromium)" >&2
