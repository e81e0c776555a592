// Kernels of trees.
