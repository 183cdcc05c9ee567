"""The rows that jobs are about: which tables there are, which rows fit, deleting them to the trash and putting them back."""
