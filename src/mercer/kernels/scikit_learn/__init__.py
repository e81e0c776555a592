"""Kernels that programs of scikit-learn hand in as objects."""
