"""answer_form: what a visitor filled in goes to staff."""
