"""Models as ONNX graphs: `graph` writes operators, `kernel` lowers what a profile wrote down."""
