"""Estimators that learn their kernel."""
