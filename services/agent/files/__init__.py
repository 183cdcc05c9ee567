"""Files of a workspace as people and other parts use them: streamed in and out, moved, deleted, searched; and the documentation (rule 14)."""
