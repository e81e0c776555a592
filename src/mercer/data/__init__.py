"""Data files: tables, matrices, strings, trees and graphs, read as kernels take them."""
