"""invite_guest, revoke_guest: who may read the site beside the people of the workplace."""
