"""What people do with records, one use case a file:

add_records      new rows, from texts by column
change_record    other values for one row, unless somebody was quicker
delete_records   rows go; their history stays
share_row        the agent may read one row, as it is now
undo_change      an entry of the history is taken back, as a new change
"""
