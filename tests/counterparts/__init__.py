"""The other side: servers on loopback that answer as providers do, or as nobody should. Each keeps what it saw."""
