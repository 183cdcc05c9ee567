"""Programs of a few steps that run as the OS user whose files they touch: root never works in a folder that a service can write (S9)."""
