#include "engine/answers.hpp"

#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

namespace mercer {

template <class T>
Answers<T>::Answers(Job<T> pattern, std::vector<Frame> frames)
    : pattern_(std::move(pattern)), frames_(std::move(frames)) {
    if (frames_.size() != pattern_.terms().size())
        throw std::invalid_argument("Answers: every statistic needs its frame.");
    for (std::size_t t = 0; t < frames_.size(); ++t) {
        const auto depth = static_cast<std::size_t>(pattern_.terms()[t].right->columns());
        for (const auto* numbers : {&frames_[t].centre, &frames_[t].scale})
            if (!numbers->empty() && numbers->size() != depth)
                throw std::invalid_argument("Answers: a frame has one number for each column.");
    }
}

template <class T>
template <class Number>
std::optional<Job<T>> Answers<T>::job(const DenseRows<Number>& rows,
                                      std::vector<std::vector<T>> left_vectors) const {
    std::vector<std::shared_ptr<const Panels<T>>> left;
    for (const auto& frame : frames_) {
        const double* centre = frame.centre.empty() ? nullptr : frame.centre.data();
        const double* scale = frame.scale.empty() ? nullptr : frame.scale.data();
        left.push_back(std::make_shared<const Panels<T>>(rows, centre, scale));
        for (std::int64_t p = 0; p < left.back()->panels(); ++p)
            if (!std::isfinite(left.back()->largest(p))) return std::nullopt;
    }
    return pattern_.with_rows(rows.rows, left, std::move(left_vectors));
}

template class Answers<float>;
template class Answers<double>;
template std::optional<Job<float>> Answers<float>::job(const DenseRows<float>&,
                                                       std::vector<std::vector<float>>) const;
template std::optional<Job<float>> Answers<float>::job(const DenseRows<double>&,
                                                       std::vector<std::vector<float>>) const;
template std::optional<Job<double>> Answers<double>::job(const DenseRows<float>&,
                                                         std::vector<std::vector<double>>) const;
template std::optional<Job<double>> Answers<double>::job(const DenseRows<double>&,
                                                         std::vector<std::vector<double>>) const;

}  // namespace mercer
