"""One module for each kind of thing that is looked for. All patterns take time in proportion to the text."""
