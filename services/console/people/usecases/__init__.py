"""What one can do with people.

offer_owner_link, welcome_owner     the first owner
add_person, change_role             people and what they may do
set_password                        by a one-time link
sign_in, find_session, sign_out     sessions
make_token, find_token_holder       programs
"""
