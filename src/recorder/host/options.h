// What `record` was asked to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loopfold::recorder {

enum class Scope {
  kMain,   // from main to its return
  kStart,  // from the first instruction
  kFrom,   // from the first entry of a function to main's return
  kOnly,   // while a function is active
};

struct RecordOptions {
  std::string out = "loopfold.out";
  Scope scope = Scope::kMain;
  std::string function;  // of kFrom and kOnly
  bool no_libs = false;
  bool follow_children = false;
  bool naive = false;   // one slot for every address and integer result
  bool checksum = false;  // hash all events, for `trace check` to compare
  bool verify = false;  // naive, and every derived value is compared with its slot
  bool keep_preload = false;
  bool quiet = false;
  bool hint = true;  // say what to do next
  bool stats = false;
  std::uint64_t max_instructions = 0;  // 0: no limit
  std::uint64_t max_trace_bytes = 0;   // 0: no limit
  std::vector<std::string> given;      // the options as written, for the record
};

}  // namespace loopfold::recorder
