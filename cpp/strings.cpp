// Kernels of strings.
