// The layout of some arrays as a tree: how memory is nested, how long each dimension is, where an element lies.
//
// Read a group of Φ's dimension by dimension. Where all have a number, the arrays are told apart by it: a *sequence*,
// one child for each number, in their order. Where all have an expression, they share a dimension: a *band*, as long as
// the longest of them needs. At the end of a vector there is a *leaf*, one element. For
//
//     C[e1,e2] -> [0, e1, e2]     A[e1,e2] -> [1, e2, 0, e1]     B[e1,e2] -> [1, e1, 1, e2]
//
//     sequence ┬ band_0 ── band_0_0 ── leaf C
//              └ band_1 ── seq_1 ┬ band_1_0 ── leaf A
//                                └ band_1_1 ── leaf B
//
// which is a schedule tree of data. Not every group has one: a number against an expression in the same dimension, or a
// vector that ends where another one goes on, is refused.
//
// Lengths are exact: the greatest value of the dimension over all elements (isl's parametric maximum), less the
// smallest if that may be negative (skewing), plus one, plus padding. They hold for all sizes for which every array
// has an element.
//
// For whoever compares layouts, field_of() computes lengths, sizes and places for given sizes of the program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/layout/phi.h"

namespace loopfold::layout {

struct Node {
  enum class Kind { kSequence, kBand, kLeaf };
  Kind kind = Kind::kLeaf;
  std::string path;                 // "" for the root sequence; "1_0" for band_1_0; a sequence below band_1 has "1" too
  std::vector<Node> children;       // of a sequence in order; one for a band
  std::vector<std::size_t> arrays;  // which of the layouts go through here; one for a leaf of arrays
  std::size_t dimension = 0;        // of the vectors: which one a sequence or band is
  // Of a band:
  std::int64_t padding = 0;
  bool from_zero = true;         // no value is negative; else `lower` is subtracted
  poly::Isl<isl_pw_aff> lower;   // smallest value, of the sizes
  poly::Isl<isl_pw_aff> length;  // without padding
};

struct LayoutTree {
  std::vector<Phi> phis;
  Known known;
  Node root;
  bool one_type = true;  // all elements are of the same type
};

/// May different layouts lead to the same cells? Those of arrays may not; those of values may (values.h).
enum class Cells { kOwn, kShared };

/// The tree of layouts that are legal. The isl objects in it live in `context`.
Result<LayoutTree> build_tree(isl_ctx* context, std::vector<Phi> phis, const Known& known = {},
                              Cells cells = Cells::kOwn);

/// A tree for given sizes of the program, as numbers.
class Field {
 public:
  /// Cells if there is one element type, else bytes.
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const;
  /// Where an element lies, in the unit of size().
  std::int64_t offset(std::size_t array, const std::vector<std::int64_t>& element) const;

 private:
  friend Result<Field> field_of(const LayoutTree& tree, const Known& sizes);
  /// One step of an array's vector: a fixed offset, or a stride times the dimension's value.
  struct Step {
    std::size_t dimension = 0;
    std::int64_t lower = 0;
    std::int64_t stride = 0;
    std::int64_t offset = 0;
  };
  const LayoutTree* tree_ = nullptr;
  Known sizes_;
  std::vector<std::vector<Step>> steps_;  // by array
  std::int64_t size_ = 0;
};

/// An Error if a size that the layouts speak of is missing. The tree must outlive what this gives.
Result<Field> field_of(const LayoutTree& tree, const Known& sizes);

/// Of a node's beginning, in bytes: that of the strictest element below it.
std::int64_t alignment_of(const LayoutTree& tree, const Node& node);

}  // namespace loopfold::layout
