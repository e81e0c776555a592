// Kernels of strings for Python.
#include "objects/strings.hpp"

#include <nanobind/stl/vector.h>

#include "bind/objects.hpp"

namespace {

template <class T>
std::span<const T> view(const Column<T>& given) {
    return {given.data(), given.shape(0)};
}

}  // namespace

void bind_strings(nb::module_& m) {
    using mercer::Automata;
    using mercer::PairJob;
    using mercer::SubsequenceJob;
    using mercer::SubstringJob;
    using mercer::TokenSequences;

    nb::class_<TokenSequences>(m, "TokenSequences", "Sequences of codes, one after another.")
        .def(
            "__init__",
            [](TokenSequences* self, const Column<std::uint64_t>& codes,
               const Column<std::int64_t>& ends) {
                new (self) TokenSequences(view(codes), view(ends));
            },
            "codes"_a.noconvert(), "ends"_a.noconvert())
        .def("__len__", &TokenSequences::size);

    nb::class_<Automata>(m, "Automata", "The suffix automata of sequences of codes.")
        .def(
            "__init__",
            [](Automata* self, const Column<std::uint64_t>& codes, const Column<std::int64_t>& ends,
               double decay) {
                Automata made(view(codes), view(ends), decay);
                run(std::nullopt, [&](const mercer::Poll& poll) { return made.build(poll); });
                new (self) Automata(std::move(made));
            },
            "codes"_a.noconvert(), "ends"_a.noconvert(), "decay"_a)
        .def("__len__", &Automata::size);

    // A job refers to its sides, which must live as long.
    nb::class_<SubsequenceJob, PairJob>(m, "SubsequenceJob", "Common subsequences, by their span.")
        .def(nb::init<const TokenSequences&, const TokenSequences&, double, std::vector<double>>(),
             "left"_a, "right"_a, "decay"_a, "weights"_a, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>());

    nb::class_<SubstringJob, PairJob>(m, "SubstringJob", "Common substrings, by their length.")
        .def(nb::init<const Automata&, const Automata&>(), "left"_a, "right"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}
