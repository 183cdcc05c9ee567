"""People of the console: who they are, how they sign in, what their role lets them do."""
