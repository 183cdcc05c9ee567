"""Answers to forms, one use case a file:

record_answer   what a visitor filled in came; it is kept, and becomes a record where the form is mapped
place_answer    one answer becomes a record, or says why it does not
map_form        a person chooses table and columns; waiting answers are placed
"""
