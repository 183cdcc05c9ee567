"""What one can do with apps.

create_plain    install a declaration of plain tables, signed by a person's word
"""
