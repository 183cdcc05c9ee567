"""What one can do with apps.

offer_app       a folder is sent, and waits for a person
decide_app      a person installs exactly that folder, or refuses it
create_plain    install a declaration of plain tables, signed by a person's word
sign_approval   a person's word about an app, signed
stop_app        out of service, and back
share_app       the agent may know of an app, or may not
"""
