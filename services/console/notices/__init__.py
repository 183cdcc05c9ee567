"""What a person should know that happened while they did something else: kept for them, shown in the page."""
