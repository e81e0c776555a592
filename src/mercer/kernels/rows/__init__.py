"""Kernels on rows of numbers, written once as profiles."""
