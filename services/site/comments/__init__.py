"""What visitors write about an item: handed to the lock, shown under the item once a person has approved it."""
