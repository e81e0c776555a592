"""What a reader should mind: coded findings with a severity and what to do."""
