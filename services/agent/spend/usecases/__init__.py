"""What the ledger does: book_account (reserve, settle and note, together), close_open (what nobody will settle), tell_usage (publish rows)."""
