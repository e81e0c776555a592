"""Automatic learners on tables: an ensemble of the best candidates of a race."""
