"""Blocks of a Gram matrix where the native engine has no program for it."""
