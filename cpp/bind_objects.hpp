// Kernels of objects for Python, a file for each kind of object.
#pragma once

#include "bind.hpp"

void bind_strings(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_random_walks(nb::module_& m);
void bind_series(nb::module_& m);
