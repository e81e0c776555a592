"""Rules about what some kinds of fitted estimators are made of."""
