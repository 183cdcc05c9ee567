#!/bin/sh
# Debian's age for the tests that open sealed secrets with another program; installed when missing and root.
set -eu
if command -v age >/dev/null; then exit 0; fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  echo "Installing age for the tests of sealed secrets"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  apt-get -qq -y install --no-install-recommends age >/dev/null
  exit 0
fi
echo "age is missing: the tests that open secrets with it will be skipped (Debian: apt-get install age)" >&2
