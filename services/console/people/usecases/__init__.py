"""What one can do with people.

offer_owner_link, welcome_owner     the first owner
invite_person, accept_invitation    everybody else; prepare_newcomer is what both ways in have in common
change_role                         what a person may do; shutting out
offer_reset, set_password           a new password by a one-time link
change_password                     a new password by who knows the old one
sign_in, find_session               sessions; count_try is what keeps guessing slow
sign_out, sign_out_everywhere       their end, here and at the other surfaces
make_token, find_token_holder       programs
"""
