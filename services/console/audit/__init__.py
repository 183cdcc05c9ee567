"""What the connectors did, what the site refused to show, what is parked, how the readers are."""
