"""LIBSVM's model files: `text` is the format, `machines` the order of classes, both ways."""
