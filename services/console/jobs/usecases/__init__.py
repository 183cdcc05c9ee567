"""What can be done with cleanup jobs.

find_target       which table a job is about, and what of it may go
complete_job      a proposal that does not know the app or the column: the only one there is
add_job           a person or the operator makes a job; nothing runs yet
take_proposals    the agent's proposals become jobs with a dry run, and it is told what that found
dry_run_job       exactly which rows would go now
set_job           a person switches a job on or off, signed over its hash and its dry run
start_run         a time has come, or a person wants it now: what was signed is read anew
run_batch         up to 1,000 rows of a run
end_run           what became of it
restore_rows      rows come back from the trash
prune_trash       what was deleted seven days ago is gone for good
"""
