"""Mail servers for tests, on loopback: Debian's Dovecot, aiosmtpd, and scripts that say whatever a test wants."""
