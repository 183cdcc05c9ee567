"""Mail in the built-in model: what is understood, what is shown of it, and which mail is meant over several turns."""
