"""Several consoles behind one address: what one learns, the open pages of the other hear."""
