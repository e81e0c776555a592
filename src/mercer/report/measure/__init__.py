"""How good a model is: honest predictions, scores with their uncertainty, baselines, curves."""
