"""Records of any app: seen, changed with history, imported and exported; typed at every edge."""
