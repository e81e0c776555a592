// Kernels of strings for Python.
#include "bind_objects.hpp"

void bind_strings(nb::module_& m) {
    static_cast<void>(m);
}
