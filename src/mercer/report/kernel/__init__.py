"""The kernel of a model: its formula, its Gram matrix, the points that carry the function."""
