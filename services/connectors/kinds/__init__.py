"""The kinds of connectors. A new one is one file here and one line in `registry.py`."""
