"""Automatic learning on tables: candidates, their honest scores, and an ensemble of the best."""
