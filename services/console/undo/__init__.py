"""Ten minutes in which a verdict can be taken back, one by one or all that were decided with one word."""
