// Which variables the heads of loops step, by the text of the source.
//
// In an optimised binary a counter is often gone, or its register is shared with other values, and it looks like a
// second counter beside the loop's own. The head of the loop says which one it is: `for (i = 0; ...; i++)`, `do i = 1,
// n`. Only asked where the binary does not tell; nothing is known if the text is not where it was compiled.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace loopfold::advise::liveness {

class HeadTexts {
 public:
  enum class Role {
    kNone,
    kOwn,    // stepped by the head of the loop
    kInner,  // set by the head of a loop inside it
  };

  /// Of a variable in the loop whose head stands in a line of a file.
  Role role_of(const std::string& path, int line, std::string_view variable);

 private:
  struct Head {
    int first = 0;  // lines
    int last = 0;
    int end = 0;
    std::string text;
  };
  const std::vector<Head>& heads_of(const std::string& path);

  std::map<std::string, std::vector<Head>> known_;
};

/// Whether the text of a head sets or steps a variable: `i = 0`, `i++`, `--i`, `i += 2`.
bool steps_in_head(std::string_view head, std::string_view variable, bool fortran);

}  // namespace loopfold::advise::liveness
