#!/bin/sh
# Prints the interpreter for .venv: 3.11 or newer; as root one that other OS users can execute, so that the services can run on it.
set -u

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

# A Python under a 0700 home works for root alone.
executable_by_others() {
  [ "$(id -u)" -ne 0 ] && return 0
  setpriv --reuid=65534 --regid=65534 --clear-groups -- "$1" -c '' 2>/dev/null
}

system="/usr/bin/python3 /usr/local/bin/python3"
for version in 14 13 12 11; do system="$system /usr/bin/python3.$version /usr/local/bin/python3.$version"; done
own="$(command -v python3 2>/dev/null) $(command -v python3.13 2>/dev/null) $(command -v python3.12 2>/dev/null) $(command -v python3.11 2>/dev/null)"
if [ "$(id -u)" -eq 0 ]; then candidates="$system $own"; else candidates="$own $system"; fi

fallback=""
for python in $candidates; do
  [ -x "$python" ] && new_enough "$python" || continue
  if executable_by_others "$python"; then echo "$python"; exit 0; fi
  [ -n "$fallback" ] || fallback="$python"
done
[ -n "$fallback" ] && { echo "$fallback"; exit 0; }
echo "Python 3.11 or newer is needed and was not found" >&2
exit 1
