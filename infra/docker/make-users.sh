#!/bin/sh
# make-users.sh FILE: the users of that file in this image, with exactly these numbers.
set -eu
grep -v '^#' "$1" | while read -r name uid socket; do
  groupadd --gid "$uid" "$name"
  [ "$name" = schleuse ] && continue
  useradd --uid "$uid" --gid "$uid" --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin --no-log-init "$name"
  if [ "$socket" = socket ]; then usermod --append --groups schleuse "$name"; fi
done
