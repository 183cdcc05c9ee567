"""What one can do with decision keys.

open_ring                           the first start: the installation's key signs
rotate_key, revoke_key              the operator asks
record_key                          the lock says that a change counts, or refused it
finish_rotation                     the new key signs; the old one is revoked if so asked

stage_change is the step that they share.
"""
