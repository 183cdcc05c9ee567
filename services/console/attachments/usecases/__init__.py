"""stage_attachments: a submission's bytes go to the lock · keep_attachment: the lock sent what a reviewer is to see ·
read_attachments: what a decision names, all of it here."""
