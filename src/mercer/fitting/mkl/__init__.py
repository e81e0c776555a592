"""Learning the weights of kernels: which matrices are kept, which way is taken, what came out."""
