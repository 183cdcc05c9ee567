"""What the lock does for the call audit:

witness_checkpoint   countersign what contradicts nothing that it has seen, and keep it
"""
