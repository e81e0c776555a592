// Kernels of trees for Python.
#include "bind_objects.hpp"

void bind_trees(nb::module_& m) {
    static_cast<void>(m);
}
