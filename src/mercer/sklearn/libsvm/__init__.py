"""What stands behind the hooks of scikit-learn's support vector machines."""
