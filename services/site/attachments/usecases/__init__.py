"""keep_attachment: bytes of what was approved arrive · use_files: an entry names its attachments · sweep_attachments: what lies there is
compared with what came."""
