"""What the console says about people to site and workspace.

state_standing          what a person or guest may do there from now on
end_sign_ins            what was begun there from a sign-in is over
restate_standings       at start: everybody whom nobody was told of yet
mint_token              bring a signed-in person there
"""
