"""Choosing how to solve within limits: what lies between an estimator and a solver."""
