"""What model files hold of scikit-learn: preprocessors, pipelines, columns."""
