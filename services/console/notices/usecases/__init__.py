"""Telling people.

tell_moves          the lock moved what somebody submitted, decided or scheduled
tell_reader         a newer revision came in while somebody has the item open
tell_parked         owners and admins: an event could not be handled
mark_read           one saw it
"""
