// Kernels of random walks for Python.
#include "bind_objects.hpp"

void bind_random_walks(nb::module_& m) {
    static_cast<void>(m);
}
