// Kernels of trees: complete subtrees by their content, subset trees and partial trees by pairs of
// nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "objects/pair_job.hpp"

namespace mercer {

// Trees one after another, the nodes of each in preorder: tree t has the nodes from ends[t] to
// ends[t + 1]. sizes: nodes of the subtree at each node. labels: a number for each label.
struct TreeNodes {
    const std::int64_t* ends;
    const std::int64_t* sizes;
    const std::uint64_t* labels;
    std::int64_t trees;
};

// For every node: a hash of the content of the subtree there, and how many of its nodes have
// children.
void hash_subtrees(const TreeNodes& nodes, std::uint64_t* hashes, std::int64_t* inner);

// What two nodes must have in common to be compared: their label; or label and children, each with
// its label and whether it is a leaf. By production, leaves are compared with nothing.
enum class Likeness { label, production };

// A collection of trees, the nodes of each grouped by what they are compared by.
class Forest {
public:
    struct Group {
        std::uint64_t key;
        std::int64_t first, count;  // among the members of the tree
    };

    // One tree. Nodes are numbered from 0.
    struct Tree {
        std::int32_t nodes;
        const std::int32_t* sizes;
        const std::int32_t* groups;  // of each node; -1: compared with nothing
        const std::int32_t* ranks;   // of each node within its group
        const Group* first_group;
        const Group* last_group;
        const std::int32_t* members;  // nodes, group by group
        const std::int64_t* child_ends;
        const std::int32_t* children;  // of node v: from child_ends[v] to child_ends[v + 1]
    };

    Forest(const TreeNodes& nodes, Likeness likeness);

    std::int64_t size() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
    Likeness likeness() const { return likeness_; }
    Tree tree(std::int64_t index) const;

private:
    void group(const TreeNodes& nodes, std::int64_t tree);

    Likeness likeness_;
    std::vector<std::int64_t> starts_, group_starts_, member_starts_, child_ends_;
    std::vector<std::int32_t> sizes_, groups_, ranks_, members_, children_;
    std::vector<Group> all_groups_;
};

// sum over pairs of nodes of delta, which is 0 unless the productions are equal, and then
// decay * product over children that are not leaves of (1 + delta).
class SubsetTreeJob final : public PairJob {
public:
    SubsetTreeJob(const Forest& left, const Forest& right, double decay);
    double value(std::int64_t i, std::int64_t j, Scratch& scratch) const override;

private:
    const Forest &left_, &right_;
    double decay_;
};

// sum over pairs of nodes of delta, which is 0 unless the labels are equal, and then depth_decay *
// (decay^2 + sum over subsequences of equal length of the children of both, decay^skipped *
// product of delta).
class PartialTreeJob final : public PairJob {
public:
    PartialTreeJob(const Forest& left, const Forest& right, double decay, double depth_decay);
    double value(std::int64_t i, std::int64_t j, Scratch& scratch) const override;

private:
    const Forest &left_, &right_;
    double decay_, depth_decay_;
};

}  // namespace mercer
