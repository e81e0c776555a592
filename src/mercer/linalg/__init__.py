"""Linear algebra on arrays and functions: it knows nothing of kernels or Gram matrices."""
