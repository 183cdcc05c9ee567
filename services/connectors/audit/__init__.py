"""The call audit: one chain of entries that commit to one another, with signed checkpoints (rule 17)."""
