// Kernels of random walks.
