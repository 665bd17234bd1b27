// C code for a layout: sizes, allocation, access macros, copying in and out, redistribution, freeing.
//
// Two forms (papers: linearised field and nested structures):
//
//   kField    one block of memory. Each node of the layout's tree has a size; an element's place is the sum of what its
//             dimensions contribute. Elements of one type are counted in elements; of several types, in bytes, each
//             node aligned for the strictest element in it.
//   kStructs  a sequence is a struct, a band a pointer to its child's type, a leaf the element. Bands directly below
//             each other are pointer tables into one block, so that a row, or a tile, is contiguous.
//
// What is generated is meant to be read: the names are those of the tree (len_0_0, band_1, seq_1), and a macro stands
// for each array (_A(e1, e2)). It is C99 and C++, without warnings under -Wall -Wextra, and needs malloc, free and
// abort. Sizes are read once, before the region, so that the region may change the variables that they came from. If a
// size is zero or negative nothing is copied, and each block still has one cell. A macro uses an index as often as its
// map does; uses() says how often, because `i++` must not be an index that is used twice.
//
// Whoever generates says which names are taken; what is generated then fits in anywhere.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "advise/layout/phi.h"
#include "advise/layout/tree.h"
#include "support/result.h"

namespace loopfold::layout {

enum class Form { kField, kStructs };

/// Names that generated code must not use; what it does use is added.
class Names {
 public:
  explicit Names(std::set<std::string> taken) : taken_(std::move(taken)) {}
  /// The wish, or the wish with a number behind it.
  std::string fresh(const std::string& wish);

 private:
  std::set<std::string> taken_;
};

/// The code of one group of arrays that share a field.
struct Generated {
  std::map<std::string, std::string> sizes;    // of the program, by name: what they are called in the code
  std::string declarations;                    // sizes, lengths, allocation, macros
  std::map<std::string, std::string> copy_in;  // by label of the array: a loop nest
  std::map<std::string, std::string> copy_out;
  std::string release;                                     // freeing and #undef
  std::map<std::string, std::string> macros;               // by label: its name
  std::map<std::string, std::vector<int>> uses;            // by label: how often the macro uses each index
  std::map<std::string, std::vector<std::string>> bounds;  // by label: the names of the array's sizes
};

/// Code for layouts that are legal: one-to-one if they are of arrays, proved by ValueProgram::check if they are of
/// values (whose macros stand for instances: _S(i, j); nothing is copied). Sizes that code before this has `captured`
/// are taken from there.
Result<Generated> generate(isl_ctx* context, const std::vector<Phi>& phis, const Known& known, Form form, Names& names,
                           Cells cells = Cells::kOwn, const std::map<std::string, std::string>& captured = {});

/// `for (...) for (...) to(e1, e2) = from(e1, e2);` for all elements of the array of a group.
std::string copy_loop(const Phi& phi, const Generated& group, const std::string& to, const std::string& from);

/// "A[e1][e2]", "P[e1].x": an element in the original array.
std::string original_element(const Phi& phi);
/// "_A(e1, e2)".
std::string moved_element(const Phi& phi, const Generated& group);

}  // namespace loopfold::layout
