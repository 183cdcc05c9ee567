"""The product's own documentation, which everybody may read and nobody changes: `docs/` in a workspace."""
