"""What can be done with conversations.

open_conversation, begin_turn, start_turn, note_calls, end_turn, close_turn (of a process that is gone), delete_conversation, forget_conversations, export_conversations.
"""
