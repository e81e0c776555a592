"""The kinds of Gram matrix: stored, half stored, computed anew, of features, streamed."""
