// The compiled module: a table of contents.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "bind/arrays.hpp"
#include "system/cpu.hpp"

NB_MODULE(_core, m) {
    // Points kept in a module's variables outlive the module at exit, which is not a leak to
    // report.
    nb::set_leak_warnings(false);

    m.doc() =
        "The native core of mercer. Import mercer._native instead: it checks what it passes on.";

    m.def("version", [] { return MERCER_VERSION; }, "The version of mercer this was compiled for.");

    m.def(
        "isa", [] { return mercer::name(mercer::isa()); },
        "The instruction set in use: 'baseline', 'avx2' or 'avx512'. MERCER_ISA forces one.");

    m.attr("MAX_THREADS") = mercer::max_threads;
    m.def("num_threads", &mercer::num_threads, "How many threads native loops use.");
    m.def("set_num_threads", &mercer::set_num_threads, "count"_a.noconvert(),
          "Set how many threads native loops use from now on.");

    bind_engine(m);
    bind_features(m);
    bind_slopes(m);
    bind_solvers(m);
    bind_objects(m);
    bind_svmlight(m);
}
