// A C file as libclang reads it, as plain trees.
//
// What is asked of a program (which array does this name mean here, what is written, what leaves the region) needs
// parents, positions in the file and what names refer to; libclang has them behind callbacks. parse_source() runs over
// the functions of the file once and keeps a tree of what matters. Offsets are bytes of the main file. What comes from
// a macro's argument has the place where it is written in the argument; what comes from a macro's body has the place of
// the macro's use, so that the text there is not the name that the tree shows: whoever edits must compare.
//
// Only the file's own functions are kept; of headers only what is declared there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.h"

namespace loopfold::layout {

enum class SyntaxKind {
  kOther,
  kFunction,
  kVariable,  // also a parameter
  kBlock,     // { }
  kFor,
  kWhile,
  kDo,
  kIf,
  kSwitch,
  kCase,  // also default
  kLabel,
  kGoto,  // `declaration` is the label's
  kIndirectGoto,
  kBreak,
  kContinue,
  kReturn,
  kDeclarations,  // statement
  kNull,          // ;
  kAssembly,
  kName,       // `declaration` says of what
  kSubscript,  // children: base, index
  kMember,     // `name`; child: the structure, if it is written
  kCall,       // `declaration` is the function's, if one is named
  kUnary,
  kSizeof,
  kBinary,
  kAssignment,  // compound: +=
  kParentheses,
  kImplicit,  // conversions that are not written
  kCast,      // those that are
};

struct Syntax {
  SyntaxKind kind = SyntaxKind::kOther;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string name;
  std::string declaration;  // "file:offset" of what a name means; of a declaration: its own
  bool is_statement = false;
  bool is_pointer = false;  // its type is a pointer or an array
  bool is_array = false;
  bool may_be_address = false;      // its type is wide enough to hold one: pointers, structures, long integers
  bool leads_to_addresses = false;  // a pointer or array, of pointers or structures
  bool is_static = false;           // of a variable or function: declared so
  std::vector<Syntax> children;
};

/// A macro, as far as its uses in the file are concerned.
struct MacroUse {
  std::size_t begin = 0;  // of the use, with its arguments
  std::size_t end = 0;
  std::string name;
  bool assigns = false;      // its body, or a macro in that, has = or ++ or the like
  bool stringifies = false;  // shows its arguments' text
};

struct Source {
  std::string file;
  std::vector<Syntax> functions;                             // definitions in the file
  std::vector<Syntax> variables;                             // outside functions, in the file
  std::set<std::string> declared;                            // functions declared anywhere
  std::set<std::string> function_keys;                       // where they are declared, as in Syntax::declaration
  std::set<std::string> macros;                              // names of all macros
  std::vector<MacroUse> uses;                                // of macros, in the file
  std::vector<std::pair<std::size_t, std::size_t>> skipped;  // what the preprocessor leaves out
};

/// Parses `text` as the contents of `file`, with a compiler's options. An Error names the place of what does not
/// compile.
Result<Source> parse_source(const std::string& file, std::string_view text, const std::vector<std::string>& options);

/// One array of a directive, as it is declared where the directive stands.
struct ProbedArray {
  std::string error;                     // what is wrong with it; else empty
  std::string declaration;               // as in Syntax
  std::size_t declared_at = 0;           // offset of the name in the file; npos if it is elsewhere
  std::vector<std::int64_t> dimensions;  // -1 where the type does not say
  bool is_const = false;
  bool is_volatile = false;
  bool in_union = false;  // the field, or what it is in
  std::string element;    // canonical type of an element, without const
  std::string type;       // canonical type of the directive's
  std::int64_t type_size = 0;
  std::int64_t type_alignment = 0;
};

struct ProbedSize {
  bool exists = false;
  bool known = false;
  std::int64_t value = 0;
};

struct Probe {
  // What is asked.
  std::size_t begin = 0;  // of the directive
  std::size_t end = 0;
  struct Array {
    std::string name;
    std::string field;
    std::string type;
    std::size_t dimensions = 0;
  };
  std::vector<Array> arrays;
  std::vector<std::string> sizes;
  // What is found.
  std::vector<ProbedArray> found;
  std::vector<ProbedSize> found_sizes;
};

/// Asks the compiler what names mean at the places of directives: declarations of its own are put there, in memory.
Result<void> probe_source(const std::string& file, std::string_view text, const std::vector<std::string>& options,
                          std::vector<Probe>& probes);

constexpr std::size_t kElsewhere = static_cast<std::size_t>(-1);

}  // namespace loopfold::layout
