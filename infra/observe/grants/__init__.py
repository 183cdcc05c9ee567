"""`schleuse grants`: everything that anybody may do here, as it is now, against what the code says."""
