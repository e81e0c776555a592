"""Models of and for other programs: LIBSVM's text files and ONNX."""
