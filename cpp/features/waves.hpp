// Random Fourier features: cosines and sines of the products of points with frequencies.
//
// Angles are counted in quarter turns. They come in tiles, which become features, or products of
// features with vectors, while they are in cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/panels.hpp"
#include "system/pool.hpp"

namespace mercer {

// Frequencies that are the rows of R H D3 H D2 H D1, cut to the columns of the points: H is a
// Hadamard matrix, the D are diagonal matrices of signs, R is diagonal. Products with a point take
// size log(size) additions for `size` frequencies.
template <class T>
struct Rotations {
    std::int64_t columns;  // of the points
    std::int64_t size;     // of H: a power of two, at least the columns and whole vectors, 8
    std::vector<T> signs;  // of D1, D2, D3, for one rotation after another
    std::vector<T> radii;  // R, one number per frequency; the last rotation may be cut
};

template <class T>
class Waves {
public:
    // amplitudes: one per frequency. phases: one per frequency, in quarter turns, or none: with
    // phases a frequency has one feature, amplitude cos(angle + phase); without them it has two,
    // amplitude cos(angle), and amplitude sin(angle) as many columns later as there are
    // frequencies. Both constructors throw std::invalid_argument on sizes that do not fit.
    Waves(std::shared_ptr<const Panels<T>> frequencies, std::vector<T> amplitudes,
          std::vector<T> phases);
    Waves(Rotations<T> rotations, std::vector<T> amplitudes, std::vector<T> phases);

    std::int64_t columns() const;  // of the points
    std::int64_t width() const { return phases_.empty() ? 2 * count_ : count_; }

    // The features of points into out: rows x width(), row by row.
    bool store(const std::shared_ptr<const Panels<T>>& points, T* out, const Poll& poll) const;

    // Features times v, width() x count, into out: rows x count.
    bool multiply(const std::shared_ptr<const Panels<T>>& points, const double* v,
                  std::int64_t count, double* out, const Poll& poll) const;

private:
    void pad();
    bool small(std::int64_t rows) const;

    template <class Use>
    auto with_angles(const std::shared_ptr<const Panels<T>>& points, const Use& use) const;

    std::int64_t count_;  // frequencies
    std::shared_ptr<const Panels<T>> frequencies_;
    Rotations<T> rotations_{};  // where there are no frequencies
    std::vector<T> amplitudes_, phases_;
};

}  // namespace mercer
