"""Kernels of objects: sets, strings, trees, time series, images."""
