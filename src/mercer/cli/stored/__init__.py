"""What can be done with a model file: predict, evaluate, inspect, compress, convert."""
