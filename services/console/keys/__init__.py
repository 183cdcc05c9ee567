"""The console's own decision keys: which one signs, how it is replaced, and how one is revoked."""
