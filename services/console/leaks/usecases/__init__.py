"""What the leak guard does in the console, one use case a file:

survey_columns   which columns are internal now; new ones are to be looked at, those that went are taken back
follow_changes   fingerprints of one table's rows become what the rows are now, and the lock is told what came and went
tell_columns     the lock is told which columns there are, and up to which event it must have each
"""
