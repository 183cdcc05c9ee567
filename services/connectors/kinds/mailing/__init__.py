"""Mail: addresses and headers as they are written and read, messages, and the two protocols. `kinds/mail.py` is the kind."""
