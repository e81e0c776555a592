"""Functions with a smooth convex loss, by Newton's method."""
