"""Having an item open.

claim_item                          take or renew the lease, and take it over from somebody
release_claim, release_claims       give one up, or all when the person leaves or is signed out everywhere
"""
