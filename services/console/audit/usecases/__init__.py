"""record_calls, record_rejection      what the connectors and the site report
acknowledge_rejection                 somebody has seen it
"""
