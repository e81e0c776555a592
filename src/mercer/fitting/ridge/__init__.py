"""Which way a kernel ridge problem is solved, and searches over such problems."""
