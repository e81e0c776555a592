"""Gram matrices of several kernels of the same points: given, kept, or computed anew."""
