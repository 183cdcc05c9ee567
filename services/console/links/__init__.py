"""Share links to single items (rule 29): opened and closed by people, in force when the lock says so, counted."""
