"""Files and pictures of items: taken in with a submission, kept for the reviewer, shown and downloaded in a sandbox."""
