"""The perceptron in feature space."""
