"""Records of the console that staff let the agent read, one use case a file:

keep_record    staff share a record, or take that back
read_records   what may be read now
"""
