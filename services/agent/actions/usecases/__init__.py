"""What happens to action cards, one use case a file:

request_action    what a tool would do in a tainted conversation becomes the one card that waits
record_decision   a person's signed decision arrives
revoke_action     a person takes an automation back that was allowed
begin_action      what was allowed is begun, once
end_action        what became of it is written and told
expire_action     nobody decided in seven days
forget_actions    their owner's words go
"""
