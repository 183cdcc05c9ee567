"""What finds values of internal columns in a text: how both are spelled out, and the keys of their fingerprints (S14). No business words."""
