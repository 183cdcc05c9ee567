"""Skills: Markdown files of the owner that tell the agent how to do things, in the folder `skills/` of their workspace."""
