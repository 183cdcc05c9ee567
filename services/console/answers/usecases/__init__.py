"""Answers to forms, one use case a file:

record_answer   what a visitor filled in came; it is kept, and becomes a row where the form is mapped
"""
