"""What the ledger does: book_account (reserve, settle and note, together), expire_calls, close_turn."""
