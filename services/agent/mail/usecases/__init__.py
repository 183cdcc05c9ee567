"""What becomes of mail accounts.

keep_account     the console says that somebody has one, or has it no more
close_account    its owner wants it gone; the console takes its secrets back
"""
