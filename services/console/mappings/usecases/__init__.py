"""What is done with mappings, one use case a file:

save_mapping     a new one, or another form of one; nothing internal can be in it
make_drafts      what a mapping makes of the rows that there are now
submit_mapping   that goes to the lock, and waits for a person
remove_mapping   it is gone; what it made stays where it is
"""
