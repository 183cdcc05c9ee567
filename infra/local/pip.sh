#!/bin/sh
# pip.sh FOLDER ARGUMENTS...: pip for that environment; its own, or any other pip on the machine told to work for it.
set -eu
target="$1"
shift
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore
if "$target/bin/python" -m pip --version >/dev/null 2>&1; then exec "$target/bin/python" -m pip "$@"; fi
for pip in pip3 pip "python3 -m pip" "/usr/bin/python3 -m pip"; do
  if $pip --version >/dev/null 2>&1; then exec $pip --python "$target/bin/python" "$@"; fi
done
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  echo "No pip here: installing Debian's python3-pip" >&2
  apt-get -qq update && apt-get -qq -y install --no-install-recommends python3-pip >/dev/null
  exec /usr/bin/python3 -m pip --python "$target/bin/python" "$@"
fi
echo "No pip was found; install one (Debian: apt-get install python3-venv python3-pip)" >&2
exit 1
