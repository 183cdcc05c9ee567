"""`schleuse top`: figures of every part, taken again and again."""
