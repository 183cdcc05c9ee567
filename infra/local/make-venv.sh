#!/bin/sh
# make-venv.sh FOLDER: a virtual environment, also from a Python without ensurepip.
set -eu
here="$(dirname "$0")"
target="$1"
if [ -x "$target/bin/python" ] && "$target/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then exit 0; fi
python="$(sh "$here/find-python.sh")"
rm -rf "$target"
if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  "$python" -m venv "$target"
elif "$python" -c 'import venv' 2>/dev/null; then
  "$python" -m venv --without-pip "$target"
else
  echo "$python has no venv module; install it (Debian: apt-get install python3-venv)" >&2
  exit 1
fi
