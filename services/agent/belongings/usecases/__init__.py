"""What can be done with all that is kept of a person: export_all, forget_all."""
