#include "solvers/perceptron.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace mercer {

namespace {

struct Verdict {
    std::int64_t rival;  // the best of the other classes
    double margin;       // by how much the own class beats it
    double lead;         // by how much it beats the others
};

Verdict judge(const Scores& scores, std::int64_t point, std::int64_t own) {
    constexpr double none = -std::numeric_limits<double>::infinity();
    double mine = none, top = none, next = none;
    std::int64_t rival = -1;
    for (std::int64_t c = 0; c < scores.classes; ++c) {
        const double score = scores.values[c * scores.points + point] + scores.offset[c];
        if (c == own) {
            mine = score;
        } else if (rival < 0 || score > top) {
            next = top;
            top = score;
            rival = c;
        } else if (score > next) {
            next = score;
        }
    }
    return {rival, mine - top, top - next};
}

}  // namespace

template <class T>
WalkResult walk(const KernelRows<T>& K, const std::int64_t* order, std::int64_t visits,
                const std::int64_t* codes, Scores& scores, std::int64_t* places,
                std::int64_t* rivals) {
    const std::int64_t n = scores.points;
    if (K.rows != n || K.columns != n)
        throw std::invalid_argument("walk: K must have a row and a column per point.");
    std::int64_t made = 0;
    for (std::int64_t at = 0; at < visits; ++at) {
        const std::int64_t point = order[at];
        if (point < 0 || point >= n) throw std::out_of_range("walk: there is no such point.");
        const std::int64_t own = codes[point];
        if (own < 0 || own >= scores.classes)
            throw std::out_of_range("walk: there is no such class.");
        const Verdict verdict = judge(scores, point, own);
        const double width = (scores.rounding + scores.drift * scores.count) *
                             (scores.length * scores.roots[point] + scores.count);
        if (verdict.margin > width) continue;
        // Not >=, so that NaN stops as well.
        if (!(verdict.margin < -width && verdict.lead > width)) return {at, made};
        const T* row = K.values + point * n;
        const double gain = 1.0, loss = -1.0;
        kernels<T>().add_rows(n, &row, &gain, 1, scores.values + own * n);
        kernels<T>().add_rows(n, &row, &loss, 1, scores.values + verdict.rival * n);
        scores.offset[own] += 1.0;
        scores.offset[verdict.rival] -= 1.0;
        scores.length += scores.roots[point];
        scores.count += 1.0;
        places[made] = at;
        rivals[made] = verdict.rival;
        ++made;
    }
    return {visits, made};
}

template WalkResult walk(const KernelRows<float>&, const std::int64_t*, std::int64_t,
                         const std::int64_t*, Scores&, std::int64_t*, std::int64_t*);
template WalkResult walk(const KernelRows<double>&, const std::int64_t*, std::int64_t,
                         const std::int64_t*, Scores&, std::int64_t*, std::int64_t*);

}  // namespace mercer
