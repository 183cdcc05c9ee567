"""What the lock does, one use case a file:

inspect_item, queue_item        a submission becomes a revision that waits for a person
check_comment                   what a visitor wrote may wait as a comment
recheck_item                    what is to be approved holds nothing that has become a secret since
decide_item, withdraw_item      a person's signed decision; publication and withdrawal
undo_decision                   a person takes a verdict of the last ten minutes back
tell_proposer                   the agent learns what became of what it proposed
publish_due, expire_due         a revision's time has come, or is over
set_switch, change_key          what is in force: switches and decision keys
change_link                     a share link is opened, or closed for ever
record_person                   who counts at a surface, and which sign-ins are over
answer_gate_request, seal_head  the gate's log towards the site
forward_signed, tell_keys       what people decided about the way out and the agent goes on to who acts on it, and which keys count
forward_stated                  what the console says of a person for the agent: a key of its API, a delegation
forward_event, record_parked    everything else, as the policy says, and what could not be handled
replay_entries                  after a restore: what was taken back since is taken back again
verify_gate, explain            what the operator may ask

Steps that they share: record_crossings, record_decision, record_change, refuse_decision, append_entry.
"""
