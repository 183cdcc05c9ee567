"""What the console and the process that runs apps both know: the folder's hash, and the frames between them. Standard library only."""
