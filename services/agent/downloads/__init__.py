"""Files of a workspace as links: registered, expiring, an owner's own; or signed, for whoever gets one by mail (rules 14, 24)."""
