"""What happens to cards, one use case a file (a person's decision arrives in book.usecases.record_decision):

request_card   what is missing for a call becomes the one card that waits
expire_cards   nobody decided in seven days
"""
