"""What of an app's code runs by the clock: its rows."""
