#!/bin/sh
# The schleuse command: this environment's interpreter, the checkout's code (by schleuse.pth), nothing from the current folder.
exec "$(dirname "$(readlink -f "$0")")/python" -P -m infra.cli.main "$@"
