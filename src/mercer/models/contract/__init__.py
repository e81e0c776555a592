"""What users and scikit-learn rely on in every estimator: parameters, targets, columns, fits."""
