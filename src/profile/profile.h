// What a view needs, and nothing that it would have to compute: the contents of profile.json, as plain data.
//
// Names in JSON are a contract (docs/profile.schema.json); fields here are called the same. Stages fill in their part:
// the structure stage the program, the tree and what is known about the quality of the recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loopfold::profile {

/// A place in the source. Views write null, or nothing, if it is not known.
struct Source {
  std::string file;  // as the debug information names it
  int line = 0;
  friend bool operator==(const Source&, const Source&) = default;
};

struct Program {
  std::vector<std::string> argv;
  std::optional<int> exit_status;  // as a shell would give it: 128+n for signal n; not known in a partial trace
  bool partial = false;
  std::uint64_t instructions = 0;  // that the tree accounts for
  std::uint64_t threads = 0;
};

/// Something that makes the results weaker than they could be.
struct Quality {
  std::string kind;    // a short word: "partial", "no debug info", ...
  std::string text;    // one sentence
  double share = 0.0;  // of the instructions that it concerns, 0..1
};

/// How often a loop went round, over its entries.
struct Counts {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::uint64_t total = 0;
};

/// A node of the loop tree: a way of calls and loops to what ran.
struct TreeNode {
  enum class Kind : std::uint8_t { kRoot, kCall, kLoop, kRecursion };
  std::uint32_t id = 0;                 // its place in Profile::tree; parents come before children
  std::optional<std::uint32_t> parent;  // none for the root
  Kind kind = Kind::kRoot;
  std::string function;          // demangled, or symbol+offset, or module+offset: the callee, or where the loop is
  std::string module;            // base name of the file, empty for code in no file
  std::optional<Source> source;  // of a loop: its header in the source; of a call or recursion: where the function is
  std::optional<Source> call_site;   // of a call or recursion
  std::vector<std::string> inlined;  // functions that the loop's source is inlined from, outermost first
  std::string origin;                // "thread", "signal handler", "coroutine" below the root, else empty
  std::uint64_t address = 0;         // in the file: of the loop's header, or of the function's first instruction
  std::uint32_t depth_binary = 0;    // of a loop: loops around it in its function, itself included
  std::uint32_t depth_source = 0;    // of a loop: the same for loops of the source
  bool irreducible = false;          // of a loop
  std::uint32_t index = 0;           // static index among its siblings
  std::uint64_t ops = 0;             // guest instructions, inclusive
  std::uint64_t self_ops = 0;        // exclusive
  std::uint64_t mem_ops = 0;         // instructions that access memory, inclusive
  std::uint64_t self_mem_ops = 0;
  std::uint64_t fp_ops = 0;  // floating-point operations among them, inclusive
  std::uint64_t self_fp_ops = 0;
  std::uint64_t entries = 0;     // how often it was called or entered
  std::uint64_t iterations = 0;  // of a loop: executions of its header, over all entries; of a recursion: steps
  Counts iterations_per_entry;
  Counts trip;  // without iterations that left the loop from a test at its top
};

struct Profile {
  Program program;
  std::vector<Quality> quality;
  std::vector<TreeNode> tree;  // the root first, then depth first: a node's children in the order of their index
};

}  // namespace loopfold::profile
