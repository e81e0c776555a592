"""Weights of several kernels: the problem, and the ways to its optimum."""
