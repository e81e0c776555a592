"""Derivatives of kernels: by the columns of their points, and by their parameters."""
