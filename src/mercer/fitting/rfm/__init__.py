"""Recursive feature machines: a metric that follows the gradient of what is learnt."""
