// For tests: makes traces with known contents and reads traces back in a form that can be compared.
//
// A Story is what a recorder might say, in its order: descriptions as they become known, events and side events. The
// same seed makes the same story. Values are drawn from strides, constants, noise and the corners of 64 bits.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "trace/reader.h"
#include "trace/types.h"
#include "trace/writer.h"

namespace loopfold::trace::testing {

/// An Event that owns its slots.
struct EventCopy {
  ThreadId thread = 0;
  std::uint64_t slice = 0;
  std::uint64_t position = 0;
  ExitId exit = 0;
  std::vector<std::uint64_t> slots;
  friend bool operator==(const EventCopy&, const EventCopy&) = default;
};

using Step = std::variant<EventCopy, SideEvent>;

inline ThreadId thread_of(const Step& step) {
  return std::visit([](const auto& item) { return item.thread; }, step);
}

/// A file name of its own, removed at the end.
class TempFile {
 public:
  TempFile() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("loopfold-trace-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".lft");
  }
  ~TempFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  std::string path() const { return path_.string(); }

  std::vector<char> bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  /// Replaces the file by a new one: file systems may wait for the disk when a file is overwritten in place.
  void set_bytes(const std::vector<char>& bytes) const {
    std::filesystem::remove(path_);
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::filesystem::path path_;
};

/// One side event of every kind, with values at the edges.
inline std::vector<SideData> every_side(StackId stacks) {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
  const StackId stack = stacks == 0 ? kNoStack : stacks - 1;
  return {
      ThreadStart{3, kMax},
      ThreadEnd{},
      Recording{true},
      Recording{false},
      Allocation{Allocation::Function::kMalloc, kTop, 100, 0, 0, stack, 77},
      Allocation{Allocation::Function::kDelete, 0, 0, 64, kMax, kNoStack, 0},
      Hidden{Hidden::Reason::kLibrary, kMax},
      SyscallEnter{231, {0, 1, kTop, kMax, 4, 5}},
      SyscallReturn{1, -14},
      SyscallReturn{9, INT64_MIN},
      KernelAccess{true, KernelAccess::Cause::kOther, 0x7fff0000, kMax},
      Mapping{Mapping::Operation::kRemap, 1, 2, 3, 4, 7, stack},
      Mapping{Mapping::Operation::kBreak, kMax, kMax, 0, 0, 0, kNoStack},
      Mark{false, std::string("a\0b\xff", 4)},
      Signal{false, 11, true},
      Fork{4242},
      Exec{""},
  };
}

inline RunInfo sample_info() {
  RunInfo info;
  info.argv = {"./app", "--size=\"3\"", std::string("\xff\xfe\0raw", 6), ""};
  info.program = "/home/\xc3\xa9t\xc3\xa9/app";
  info.interpreter = "/bin/sh";
  info.working_directory = "/tmp/\x80";
  info.loopfold_version = "0.1.0";
  info.valgrind_version = "3.19.0";
  info.options = {"--naive"};
  info.process_id = 12345;
  info.naive = false;
  return info;
}

/// Block `id` with `instructions` instructions; instruction i has slot i as an address and slot i + 1 as a result.
inline Block sample_block(BlockId id, std::uint16_t instructions) {
  Block block;
  block.id = id;
  block.address = 0x400000 + 64 * std::uint64_t{id};
  for (std::uint16_t i = 0; i < instructions; ++i) {
    block.lengths.push_back(static_cast<std::uint8_t>(1 + i % 4));
    block.bytes.insert(block.bytes.end(), block.lengths.back(), static_cast<std::uint8_t>(id + i));
    Access access;
    access.instruction = i;
    access.kind = i % 2 == 0 ? Access::Kind::kLoad : Access::Kind::kStore;
    access.guarded = i % 3 == 0;
    access.atomic = i % 5 == 0;
    access.size = 8u << (i % 4);
    access.address = i % 7 == 6 ? Value::constant(~std::uint64_t{0} - i) : Value::slot(i);
    block.accesses.push_back(access);
    const std::uint8_t widths[] = {1, 2, 4, 8};
    block.results.push_back({i, static_cast<std::uint8_t>(i % 16), static_cast<std::uint8_t>(i % 2), widths[i % 4],
                             i % 4 == 3 ? Value{} : Value::slot(i + 1u)});
  }
  if (id % 4 == 1 && instructions > 0) block.ftop = Value::slot(0);
  return block;
}

/// The exit of `block` after its first `instructions` instructions.
inline Exit sample_exit(ExitId id, BlockId block, std::uint16_t instructions) {
  Exit exit;
  exit.id = id;
  exit.block = block;
  exit.kind = static_cast<ExitKind>(id % 10);
  exit.instructions = exit.accesses = exit.results = instructions;
  exit.slots = static_cast<std::uint16_t>(instructions == 0 ? 0 : instructions + 1);
  if (id % 3 != 0) exit.target = id % 3 == 1 ? 0x400000 : ~std::uint64_t{0};
  if (instructions > 1) exit.stack_pointer = Value::slot(instructions);
  return exit;
}

/// What was said to a Writer, and what a Reader should say again.
class Story {
 public:
  std::vector<Module> modules;
  std::vector<Block> blocks;
  std::vector<Exit> exits;
  std::vector<CallStack> stacks;
  std::vector<Step> steps;

  explicit Story(std::uint64_t seed) : random_(seed) {}

  /// Makes up `count` steps of `threads` threads and tells them to `writer`.
  void tell(Writer& writer, std::size_t count, ThreadId threads) {
    describe(writer);
    for (std::size_t i = 0; i < count; ++i) {
      if (pick(40) == 0) describe(writer);
      if (pick(25) == 0) {
        slice_ += 1 + (pick(10) == 0 ? pick(1000000) : 0);
        thread_ = static_cast<ThreadId>(pick(threads));
      }
      if (pick(8) == 0) {
        say_side(writer, threads);
      } else {
        say_event(writer);
      }
    }
  }

 private:
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  std::uint64_t value(std::uint64_t number, std::uint64_t slot) {
    switch (pick(12)) {
      case 0:
        return 0;
      case 1:
        return std::uint64_t{1} << 63;
      case 2:
        return ~std::uint64_t{0};
      case 3:
        return random_();
      default:
        return 0x600000 + number * 8 * slot;
    }
  }

  void describe(Writer& writer) {
    modules.push_back(
        {"/lib/m" + std::to_string(modules.size()), "c0ffee", 0x1000, pick(1 << 20), 0x1000, pick(2) == 0});
    writer.add_module(modules.back());
    for (int i = 0; i < 3; ++i) {
      const std::uint16_t instructions = static_cast<std::uint16_t>(pick(9));
      blocks.push_back(sample_block(static_cast<BlockId>(blocks.size()), instructions));
      writer.add_block(blocks.back());
      for (const std::uint16_t left : {instructions, static_cast<std::uint16_t>(pick(instructions + 1u))}) {
        exits.push_back(sample_exit(static_cast<ExitId>(exits.size()), blocks.back().id, left));
        writer.add_exit(exits.back());
      }
    }
    stacks.emplace_back(pick(kMaxStackDepth + 1), random_());
    writer.add_stack(stacks.back());
  }

  void say_event(Writer& writer) {
    last_exit_ = pick(4) == 0 ? static_cast<ExitId>(pick(exits.size())) : (last_exit_ + 2) % 6;
    EventCopy event{thread_, slice_, writer.events_of(thread_), last_exit_, {}};
    for (std::uint64_t i = 0; i < exits[last_exit_].slots; ++i) event.slots.push_back(value(steps.size(), i));
    writer.event(event.thread, event.slice, event.exit, event.slots);
    steps.emplace_back(std::move(event));
  }

  void say_side(Writer& writer, ThreadId threads) {
    const std::vector<SideData> kinds = every_side(static_cast<StackId>(stacks.size()));
    SideEvent side{pick(5) == 0 ? static_cast<ThreadId>(pick(threads + 2)) : thread_, slice_, 0,
                   kinds[pick(kinds.size())]};
    writer.side(side);
    side.position = writer.events_of(side.thread);
    steps.emplace_back(std::move(side));
  }

  std::mt19937_64 random_;
  std::uint64_t slice_ = 0;
  ThreadId thread_ = 0;
  ExitId last_exit_ = 0;
};

/// All that a cursor delivers, and the Error that ended it, if one did.
struct Walk {
  std::vector<Step> steps;
  std::optional<Error> error;
};

inline Walk walk(const Reader& reader, CursorOptions options = {}) {
  Walk result;
  Cursor cursor = reader.cursor(options);
  for (;;) {
    const Result<Cursor::Item> item = cursor.next();
    if (!item) {
      result.error = item.error();
      return result;
    }
    if (*item == Cursor::Item::kEnd) return result;
    if (*item == Cursor::Item::kSide) {
      result.steps.emplace_back(cursor.side());
    } else {
      const Event& event = cursor.event();
      result.steps.emplace_back(EventCopy{event.thread, event.slice, event.position, event.exit,
                                          std::vector<std::uint64_t>(event.slots.begin(), event.slots.end())});
    }
  }
}

}  // namespace loopfold::trace::testing
