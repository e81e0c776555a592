"""Fewer points for the same functions, and for the same nearest neighbours."""
