"""`schleuse bench`: what the running system reaches, beside what its parts reach alone."""
