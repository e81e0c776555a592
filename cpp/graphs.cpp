// Kernels of graphs.
