#!/bin/sh
# Locks run.in and test.in with hashes. Installed with --no-deps, so Django, which
# django-htmx names but which is never imported (only its static files are used), stays out;
# asgiref comes with it, and only what tests measure beside ours needs that.
set -eu
cd "$(dirname "$0")"
for name in run test; do
  inputs="run.in" out="--no-emit-package asgiref"; [ "$name" = test ] && inputs="run.in test.in" out=""
  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
    --no-emit-package django --no-emit-package sqlparse $out \
    --no-emit-package setuptools $inputs -o "$name.txt"
done
# The optional extra: chDB names pandas too, which is imported only for data frames; nobody here makes one.
uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
  --no-emit-package pandas --no-emit-package numpy --no-emit-package python-dateutil --no-emit-package six --no-emit-package tzdata \
  -c run.txt analytics.in -o analytics.txt
