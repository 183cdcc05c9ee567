#!/bin/sh
# The schleuse command inside a container: .schleuse in this folder is the state directory, which the volumes make up.
cd /opt/operator
exec /opt/venv/bin/python -P -m infra.cli.main "$@"
