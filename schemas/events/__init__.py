"""The events of each service, one file for each owner; schemas.catalogue puts them together."""
