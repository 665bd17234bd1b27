// What the two forms of generated code share, and what each adds. Only for generate*.cc.
#pragma once

#include <map>
#include <string>

#include "advise/layout/generate.h"

namespace loopfold::layout {

/// A group being generated: its tree, and the names that its nodes have in the code.
struct Draft {
  isl_ctx* context = nullptr;
  LayoutTree tree;
  Names* names = nullptr;
  Generated code;
  std::set<std::string> used;                          // sizes of the program that the code needs
  std::map<std::string, std::string> parameters;       // size of the program -> name in the code
  std::map<const Node*, std::string> lengths;          // of bands
  std::map<const Node*, std::string> lowers;           // of bands that do not start at 0
  std::map<std::size_t, std::vector<int>> index_uses;  // by array

  /// The name in the code of a size of the program, which is then needed.
  std::string parameter(const std::string& name) {
    used.insert(name);
    return parameters.at(name);
  }
  void line(const std::string& text) { code.declarations += text + "\n"; }
  /// The value of the band's dimension for an element of `array`, from 0, perhaps as an operand; counts the uses of
  /// indices.
  std::string position(const Node& band, std::size_t array, bool operand = true);
  /// Defines the macro of `array` as `body`.
  void define(std::size_t array, const std::string& body);
};

Result<void> write_field(Draft& draft);
Result<void> write_structs(Draft& draft);

}  // namespace loopfold::layout
