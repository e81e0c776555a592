"""The largest eigenvalues of a centred Gram matrix."""
