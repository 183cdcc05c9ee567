"""`schleuse prove`: attacks the running system with the real credentials of every service, and compares what happens with what must happen."""
