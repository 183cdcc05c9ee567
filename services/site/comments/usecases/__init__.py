"""submit_comment: a visitor's words go to the lock, where a person looks at them first."""
