"""What is computed from a finished fit: deviations, probabilities, points behind components."""
