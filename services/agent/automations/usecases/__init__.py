"""What happens to automations."""
