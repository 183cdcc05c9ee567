"""keep_attachment: bytes arrive · hold_submission: a submission waits for its bytes · queue_held: all are there · give_up: they never came ·
publish_attachments: the bytes of what was approved go to the site · read_files: of one content."""
