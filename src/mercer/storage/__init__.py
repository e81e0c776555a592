"""Files that are whole or not there: atomic writing, and tensors with a manifest and digests."""
