// Kernels of series for Python.
#include "bind_objects.hpp"

void bind_series(nb::module_& m) {
    static_cast<void>(m);
}
