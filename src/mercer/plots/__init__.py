"""Pictures of kernels and models, with matplotlib."""
