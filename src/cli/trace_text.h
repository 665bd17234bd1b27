// Events and side events in words, for `loopfold trace dump`.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace_commands.h"
#include "symbols/symbolizer.h"
#include "trace/reader.h"

namespace loopfold::cli {

struct TextOptions {
  bool source = true;       // file names and lines
  bool side_events = true;  // what stands between the events
};

/// Appends the text of what it is given to a buffer that the caller empties.
class TraceText {
 public:
  TraceText(const trace::Reader& reader, symbols::Symbolizer& symbolizer, TextOptions options,
            fmt::memory_buffer& buffer);

  /// `number`: ordinal of the event in the walk, or of the event behind the side event.
  void event(const trace::Event& event, std::uint64_t number);
  void side(const trace::SideEvent& side, std::uint64_t number);
  /// Puts out what was held back: a system call that has not returned.
  void finish();

 private:
  /// The part of a block's text that is the same in every execution.
  struct BlockText {
    bool made = false;
    std::string place;                      // "main+0x1c (demo.c:12)"
    std::vector<std::string> instructions;  // address and disassembly
  };
  /// A system call that has been entered. Its line is complete when it returns.
  struct OpenCall {
    trace::ThreadId thread = 0;
    std::uint32_t number = 0;
    std::string line;
    std::string notes;  // lines below it: what the kernel did to memory
  };

  const BlockText& block_text(trace::BlockId id);
  std::string place(std::uint64_t address, bool with_offset);
  std::string caller(trace::StackId stack);
  std::string allocation(const trace::Allocation& allocation);
  std::string words(const trace::SideData& data);
  bool continues_open_call(const trace::SideEvent& side);
  std::string head(trace::ThreadId thread, std::uint64_t position, std::uint64_t number) const;
  void line(const std::string& text);

  const trace::Reader& reader_;
  symbols::Symbolizer& symbolizer_;
  TextOptions options_;
  fmt::memory_buffer& buffer_;
  Paint paint_;
  std::vector<BlockText> blocks_;
  std::optional<OpenCall> open_call_;
};

}  // namespace loopfold::cli
