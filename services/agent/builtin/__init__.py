"""The model that needs no network: it understands what its tools can do, in English and German."""
