// Kernels of series for Python.
#include "objects/series.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "bind/objects.hpp"

namespace {

template <class T>
std::vector<T> copied(const Column<T>& given) {
    return {given.data(), given.data() + given.shape(0)};
}

// One of the two numbers of each k(x, x).
std::vector<double> own(const mercer::SeriesSet& set, double mercer::Scaled::* which) {
    std::vector<double> found;
    for (const mercer::Scaled& value : set.own()) found.push_back(value.*which);
    return found;
}

}  // namespace

void bind_series(nb::module_& m) {
    using mercer::AlignmentJob;
    using mercer::SeriesSet;
    nb::class_<SeriesSet>(m, "SeriesSet", "Series of one width, for their alignments.")
        .def(
            "__init__",
            [](SeriesSet* self, const Column<double>& values, const Column<std::int64_t>& ends,
               std::int64_t width,
               double gamma) { new (self) SeriesSet(copied(values), copied(ends), width, gamma); },
            "values"_a.noconvert(), "ends"_a.noconvert(), "width"_a, "gamma"_a,
            "values: series after series, each coordinate by coordinate; ends: in moments, from 0.")
        .def("__len__", &SeriesSet::size)
        .def_prop_ro("width", &SeriesSet::width)
        .def(
            "measure",
            [](SeriesSet& self, const std::optional<Stop>& stop) {
                return run(stop, [&](const mercer::Poll& poll) { return self.measure(poll); });
            },
            "stop"_a.none(), "Compute k(x, x) of every series; False if `stop` said so.")
        .def_prop_ro(
            "parts", [](const SeriesSet& self) { return own(self, &mercer::Scaled::part); },
            "k(x, x) = parts 2**powers, once measured.")
        .def_prop_ro("powers",
                     [](const SeriesSet& self) { return own(self, &mercer::Scaled::power); });

    nb::class_<AlignmentJob, mercer::PairJob>(m, "AlignmentJob", "All alignments of two series.")
        .def(nb::init<std::shared_ptr<const SeriesSet>, std::shared_ptr<const SeriesSet>, bool>(),
             "left"_a, "right"_a, "normalize"_a);
}
