"""Ridge regression: direct, by conjugate gradients, in features, with few centres."""
