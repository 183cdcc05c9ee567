"""What the agent may do for people.

issue_delegation     the agent may act for somebody from now on
renew_due            for whoever is here, before the last one ends
"""
