"""Files and pictures of published items: kept by their hashes, served while a published item names them."""
