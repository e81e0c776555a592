// What the files that know both the core and Python share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "system/pool.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Arrays are never converted: a silent copy would hide a mistake and cost memory.
template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Stop = nb::typed<nb::callable, bool()>;

void require(bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
}

// Asks Python, while native code runs without its lock, whether to go on: Ctrl-C, and what the
// caller's own function says.
mercer::Poll poll_python(const std::optional<Stop>& stop) {
    return [&stop] {
        const nb::gil_scoped_acquire lock;
        // Threads that have not ended yet are waited for, and asked about, after an exception.
        if (PyErr_Occurred() || PyErr_CheckSignals() != 0) return true;
        if (!stop) return false;
        try {
            return nb::cast<bool>((*stop)());
        } catch (nb::python_error& error) {
            error.restore();
            return true;
        }
    };
}

// Runs a native job without Python's lock. One that was stopped by an exception of Python's passes
// it on; else the caller knows why.
template <class Work>
bool run(const std::optional<Stop>& stop, const Work& work) {
    const auto poll = poll_python(stop);
    bool done = false;
    {
        const nb::gil_scoped_release release;
        done = work(poll);
    }
    if (!done && PyErr_Occurred()) throw nb::python_error();
    return done;
}

}  // namespace

// The parts of the module, each in the file of its name.
void bind_engine(nb::module_& m);
void bind_features(nb::module_& m);
void bind_slopes(nb::module_& m);
void bind_solvers(nb::module_& m);
void bind_objects(nb::module_& m);
void bind_svmlight(nb::module_& m);
