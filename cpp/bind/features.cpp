// Random Fourier features for Python.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "features/waves.hpp"

namespace {

template <class T>
std::vector<T> copy(const Column<T>& given) {
    return std::vector<T>(given.data(), given.data() + given.shape(0));
}

template <class T>
void bind_waves(nb::module_& m, const char* name) {
    using Waves = mercer::Waves<T>;
    using Panels = mercer::Panels<T>;
    nb::class_<Waves>(m, name, "Cosines and sines of the products of points with frequencies.")
        .def(
            "__init__",
            [](Waves* self, const std::shared_ptr<Panels>& frequencies, const Column<T>& amplitudes,
               const Column<T>& phases) {
                new (self) Waves(frequencies, copy(amplitudes), copy(phases));
            },
            "frequencies"_a, "amplitudes"_a.noconvert(), "phases"_a.noconvert(),
            "Frequencies are rows, in quarter turns; an empty array of phases asks for pairs.")
        .def_static(
            "rotated",
            [](std::int64_t columns, std::int64_t size, const Column<T>& signs,
               const Column<T>& radii, const Column<T>& amplitudes, const Column<T>& phases) {
                return std::make_unique<Waves>(
                    mercer::Rotations<T>{columns, size, copy(signs), copy(radii)}, copy(amplitudes),
                    copy(phases));
            },
            "columns"_a, "size"_a, "signs"_a.noconvert(), "radii"_a.noconvert(),
            "amplitudes"_a.noconvert(), "phases"_a.noconvert(),
            "The same with frequencies that are rows of products of Hadamard matrices.")
        .def(
            "store",
            [](const Waves& self, const std::shared_ptr<Panels>& points, const Output<T>& out,
               const std::optional<Stop>& stop) {
                require(static_cast<std::int64_t>(out.shape(0)) == points->rows() &&
                            static_cast<std::int64_t>(out.shape(1)) == self.width(),
                        "store: out must have a row per point and a column per feature.");
                return run(stop, [&](const mercer::Poll& poll) {
                    return self.store(points, out.data(), poll);
                });
            },
            "points"_a, "out"_a.noconvert(), "stop"_a.none(),
            "The features into out; False if `stop` said so.")
        .def(
            "multiply",
            [](const Waves& self, const std::shared_ptr<Panels>& points, const Matrix<double>& v,
               const Output<double>& out, const std::optional<Stop>& stop) {
                require(static_cast<std::int64_t>(v.shape(0)) == self.width() &&
                            static_cast<std::int64_t>(out.shape(0)) == points->rows() &&
                            v.shape(1) == out.shape(1),
                        "multiply: v and out must fit.");
                return run(stop, [&](const mercer::Poll& poll) {
                    return self.multiply(points, v.data(), static_cast<std::int64_t>(v.shape(1)),
                                         out.data(), poll);
                });
            },
            "points"_a, "v"_a.noconvert(), "out"_a.noconvert(), "stop"_a.none(),
            "Features times v into out; False if `stop` said so.")
        .def_prop_ro("width", &Waves::width, "The number of features.");
}

}  // namespace

void bind_features(nb::module_& m) {
    bind_waves<float>(m, "Waves32");
    bind_waves<double>(m, "Waves64");
}
