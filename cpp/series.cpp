// Kernels of series.
