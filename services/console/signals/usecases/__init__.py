"""record_signals                     count what visitors did"""
