// Kernels of sequences of tokens: strings, bytes, lists of words. A token is a 64-bit code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "objects/pair_job.hpp"

namespace mercer {

// Sequences one after another. The code of all ones is taken for the one below it: it fills up
// short sequences, and must not be a token.
class TokenSequences {
public:
    static constexpr std::int64_t filler = -1;

    // Sequence i is codes[ends[i]] ... codes[ends[i + 1] - 1]; ends has one more than there are.
    TokenSequences(std::span<const std::uint64_t> codes, std::span<const std::int64_t> ends);

    std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()) - 1; }
    std::int64_t longest() const;
    std::span<const std::int64_t> operator[](std::int64_t i) const {
        const auto at = static_cast<std::size_t>(i);
        return {codes_.data() + ends_[at], codes_.data() + ends_[at + 1]};
    }

private:
    std::vector<std::int64_t> codes_, ends_;
};

// k = sum over p of weights[p - 1] decay^(2p) sum over pairs of equal subsequences of length p of
// decay^gaps, so that a subsequence counts decay^(its span): no power of decay is smaller than the
// values themselves.
class SubsequenceJob : public PairJob {
public:
    SubsequenceJob(const TokenSequences& left, const TokenSequences& right, double decay,
                   std::vector<double> weights);

    double value(std::int64_t i, std::int64_t j, Scratch& scratch) const override;
    void row(std::int64_t i, const std::int64_t* columns, std::int64_t count, double* out,
             Scratch& scratch) const override;
    double work() const override;

private:
    void some(std::int64_t i, const std::int64_t* columns, const std::int64_t* chosen,
              std::int64_t count, double* out, Scratch& scratch) const;
    double weighted(const double* sums, std::int64_t across, std::int64_t length) const;

    const TokenSequences &left_, &right_;
    double decay_;
    bool every_;                 // whether a length below the last counts
    std::vector<double> scale_;  // weights[p - 1] decay^(2p)
};

// The suffix automaton of a sequence: a state for each class of substrings that end at the same
// places. A class holds the suffixes of its longest string that are longer than `shorter`, the
// longest one of class `link`.
struct Automaton {
    struct State {
        std::uint64_t signs;  // of the tokens that lead on from here
        std::int32_t link, shorter;
        double base;   // sum of decay^|u| occ_u over the suffixes u of length `shorter` and less
        double slope;  // occ decay^(shorter + 1)
    };
    struct Edge {
        std::int64_t token;
        std::int32_t from, to;  // to: -1 in an empty place
    };
    std::vector<State> states;  // the first is that of the empty string
    std::vector<Edge> edges;    // by hash, a power of two of places

    std::int32_t next(std::int32_t from, std::int64_t token) const;
};

class Automata {
public:
    Automata(std::span<const std::uint64_t> codes, std::span<const std::int64_t> ends,
             double decay);

    // Builds them all; false if poll asked to stop.
    bool build(const Poll& poll);

    const TokenSequences& sequences() const { return sequences_; }
    std::int64_t size() const { return sequences_.size(); }

    // sum over the substrings u of `text` of decay^|u| occ_u, occ_u counted in sequence i.
    double occurrences(std::int64_t i, std::span<const std::int64_t> text) const;

private:
    TokenSequences sequences_;
    std::vector<double> powers_;  // decay^l
    std::vector<double> sums_;    // 1 + decay + ... + decay^(l - 1)
    std::vector<Automaton> automata_;
};

class SubstringJob : public PairJob {
public:
    SubstringJob(const Automata& left, const Automata& right);
    double value(std::int64_t i, std::int64_t j, Scratch& scratch) const override;

private:
    const Automata &left_, &right_;
};

}  // namespace mercer
