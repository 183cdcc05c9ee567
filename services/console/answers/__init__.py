"""What visitors filled into forms of items: kept for staff, and made rows of an app where a person said so."""
