// How views call what is in the loop tree: one wording for the terminal, the flame graph and the exports.
//
// A file is called by the shortest end of its path that no other file of the profile shares, so that "matmul.c:12" is
// enough nearly always and never ambiguous. A loop is called by its place; one without line information by its module
// and address. Everything that comes out is inert text (text.h).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "profile/profile.h"
#include "views/text.h"

namespace loopfold::views {

class Words {
 public:
  explicit Words(const profile::Profile& profile, Charset charset = Charset::kUnicode);

  /// "matmul.c", or "blas/matmul.c" if there is another matmul.c.
  std::string file(const std::string& path) const;
  /// "matmul.c:12".
  std::string place(const profile::Source& source) const;
  /// The place of a node: "matmul.c:12", or "libm.so.6+0x1234" without line information; nothing for the root.
  std::string where(const profile::TreeNode& node) const;
  /// The function's name; "?" if there is none.
  std::string function(const profile::TreeNode& node) const;
  /// What a frame is called: "matmul", "loop matmul.c:12", "recursion fib", "thread worker"; the program for the root.
  std::string frame(const profile::TreeNode& node) const;
  /// How often a loop went round each time it was entered: "×300", "×1..300 (mean 150.5)".
  std::string rounds(const profile::TreeNode& node) const;
  /// The command line, quoted as a shell would need it.
  std::string command_line() const;
  std::string text(const std::string& any) const { return inert(any, charset_); }
  Charset charset() const { return charset_; }

 private:
  const profile::Profile& profile_;
  Charset charset_;
  std::unordered_map<std::string, std::string> files_;
};

/// Iterations as a person counts them: without the test at the top that leaves the loop, where that is known.
profile::Counts rounds_of(const profile::TreeNode& node);

}  // namespace loopfold::views
