"""`schleuse prove`: clean on a sound system, and each planted hole is found."""
