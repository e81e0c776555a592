// Kernels of graphs for Python.
#include "bind_objects.hpp"

void bind_graphs(nb::module_& m) {
    static_cast<void>(m);
}
