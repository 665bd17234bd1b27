// Reads .eh_frame, which is in nearly every program, stripped or not, because exceptions and debuggers need it: one
// entry for each stretch of code, and a little program that says how to find the caller's frame in it.
//
// What is computed: the stretch, and whether a call can have led to its first instruction. At a function's entry the
// canonical frame address (the value rsp had before the call) is rsp + 8. A part that was moved away from its function
// (`.cold`) usually starts with a frame that is set up already, and its program says so before its first
// advance. Nothing after the first advance matters here.
//
// Exactness: a moved part of a function that has set up nothing at the jump looks like a function. Cost: one pass.
#include "symbols/unwind_table.h"

#include <dwarf.h>

#include <optional>
#include <string_view>
#include <unordered_map>

#include "symbols/byte_reader.h"

namespace loopfold::symbols {
namespace {

constexpr std::uint64_t kStackPointer = 7;  // in DWARF's numbering of registers
constexpr std::uint8_t kOmitted = 0xff;     // DW_EH_PE_omit

struct FrameAddress {
  std::uint64_t reg = 0;
  std::int64_t offset = 0;
  bool known = false;  // false: an expression, or not yet defined
};

struct CommonEntry {
  std::uint8_t pointer_encoding = DW_EH_PE_absptr;
  std::int64_t data_alignment = 1;
  bool is_signal_frame = false;
  bool has_augmentation = false;  // so its FDEs have augmentation data, with its size in front
  FrameAddress frame;             // after the initial instructions
};

/// Size in bytes of a pointer with this encoding, 0 for those of variable size, which nobody uses for code.
unsigned pointer_size(std::uint8_t encoding) {
  switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return 8;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
      return 4;
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
      return 2;
    default:
      return 0;
  }
}

/// The number without what it is relative to.
std::uint64_t read_pointer(ByteReader& reader, std::uint8_t encoding) {
  switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return reader.read<std::uint64_t>();
    case DW_EH_PE_udata4:
      return reader.read<std::uint32_t>();
    case DW_EH_PE_sdata4:
      return static_cast<std::uint64_t>(std::int64_t{reader.read<std::int32_t>()});
    case DW_EH_PE_udata2:
      return reader.read<std::uint16_t>();
    default:
      return static_cast<std::uint64_t>(std::int64_t{reader.read<std::int16_t>()});
  }
}

/// Executes one instruction other than an advance. False: it was an advance, or is not known.
bool execute(ByteReader& reader, std::uint8_t opcode, std::int64_t data_alignment, FrameAddress& frame) {
  const std::uint8_t high = opcode & 0xc0;
  if (high == DW_CFA_advance_loc) return false;
  if (high == DW_CFA_offset) return reader.uleb(), true;
  if (high == DW_CFA_restore) return true;
  switch (opcode) {
    case DW_CFA_nop:
    case DW_CFA_remember_state:
    case DW_CFA_restore_state:
      return true;
    case DW_CFA_restore_extended:
    case DW_CFA_undefined:
    case DW_CFA_same_value:
    case DW_CFA_GNU_args_size:
      return reader.uleb(), true;
    case DW_CFA_offset_extended:
    case DW_CFA_register:
    case DW_CFA_val_offset:
    case DW_CFA_offset_extended_sf:
    case DW_CFA_val_offset_sf:
    case DW_CFA_GNU_negative_offset_extended:
      return reader.uleb(), reader.uleb(), true;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
      return reader.uleb(), reader.skip(reader.uleb()), true;
    case DW_CFA_def_cfa:
      frame.reg = reader.uleb();
      frame.offset = static_cast<std::int64_t>(reader.uleb());
      frame.known = true;
      return true;
    case DW_CFA_def_cfa_sf:
      frame.reg = reader.uleb();
      frame.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(reader.sleb()) *
                                               static_cast<std::uint64_t>(data_alignment));
      frame.known = true;
      return true;
    case DW_CFA_def_cfa_register:
      frame.reg = reader.uleb();
      return true;
    case DW_CFA_def_cfa_offset:
      frame.offset = static_cast<std::int64_t>(reader.uleb());
      return true;
    case DW_CFA_def_cfa_offset_sf:
      frame.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(reader.sleb()) *
                                               static_cast<std::uint64_t>(data_alignment));
      return true;
    case DW_CFA_def_cfa_expression:
      reader.skip(reader.uleb());
      frame.known = false;
      return true;
    default:
      return false;
  }
}

/// Executes instructions up to the first advance.
void execute_until_advance(ByteReader& reader, std::int64_t data_alignment, FrameAddress& frame) {
  while (reader.ok() && !reader.at_end()) {
    if (!execute(reader, reader.read<std::uint8_t>(), data_alignment, frame)) return;
  }
}

/// `reader` is behind the id. Nothing if the entry is of a kind that is not understood.
std::optional<CommonEntry> read_common_entry(ByteReader& reader) {
  CommonEntry entry;
  const auto version = reader.read<std::uint8_t>();
  const std::string_view augmentation = reader.string();
  if (version == 4) reader.skip(2);
  reader.uleb();
  entry.data_alignment = reader.sleb();
  if (version == 1) {
    reader.skip(1);
  } else {
    reader.uleb();
  }
  if (!augmentation.empty() && augmentation.front() != 'z') return std::nullopt;
  if (!augmentation.empty()) {
    entry.has_augmentation = true;
    const std::uint64_t size = reader.uleb();
    const std::size_t instructions = reader.position() + std::min<std::uint64_t>(size, reader.left());
    for (const char letter : augmentation.substr(1)) {
      if (letter == 'R') {
        entry.pointer_encoding = reader.read<std::uint8_t>();
      } else if (letter == 'L') {
        reader.skip(1);
      } else if (letter == 'P') {
        reader.skip(pointer_size(reader.read<std::uint8_t>()));
      } else if (letter == 'S') {
        entry.is_signal_frame = true;
      } else if (letter != 'B') {
        return std::nullopt;
      }
    }
    reader.seek(instructions);
  }
  execute_until_advance(reader, entry.data_alignment, entry.frame);
  const bool understood =
      reader.ok() && entry.pointer_encoding != kOmitted && pointer_size(entry.pointer_encoding) != 0;
  return understood ? std::optional(entry) : std::nullopt;
}

/// Knows the common entries that have been read.
class Section {
 public:
  Section(std::span<const unsigned char> bytes, std::uint64_t address) : bytes_(bytes), address_(address) {}

  std::vector<UnwindRange> read() {
    std::vector<UnwindRange> ranges;
    std::size_t position = 0;
    for (;;) {
      const std::optional<Record> record = record_at(position);
      if (!record || record->body.empty()) return ranges;
      if (record->id != 0) add_range(*record, ranges);
      position = record->end;
    }
  }

 private:
  struct Record {
    std::uint32_t id = 0;
    std::size_t id_position = 0;
    std::span<const unsigned char> body;  // behind the id; empty for the record that ends the section
    std::size_t end = 0;
  };

  std::optional<Record> record_at(std::size_t position) const {
    ByteReader reader(bytes_);
    reader.seek(position);
    std::uint64_t length = reader.read<std::uint32_t>();
    if (length == 0xffffffff) length = reader.read<std::uint64_t>();
    if (!reader.ok() || length < 4 || length > reader.left()) return std::nullopt;
    Record record;
    record.id_position = reader.position();
    record.end = record.id_position + length;
    record.id = reader.read<std::uint32_t>();
    record.body = bytes_.subspan(reader.position(), record.end - reader.position());
    return record;
  }

  const std::optional<CommonEntry>& common_entry(std::size_t position) {
    const auto [place, is_new] = common_.try_emplace(position);
    if (!is_new) return place->second;
    const std::optional<Record> record = record_at(position);
    if (record && record->id == 0) {
      ByteReader reader(record->body);
      place->second = read_common_entry(reader);
    }
    return place->second;
  }

  void add_range(const Record& record, std::vector<UnwindRange>& ranges) {
    if (record.id > record.id_position) return;
    const std::optional<CommonEntry>& common = common_entry(record.id_position - record.id);
    if (!common) return;
    ByteReader reader(record.body);
    const std::uint8_t encoding = common->pointer_encoding;
    const std::uint64_t here = address_ + static_cast<std::uint64_t>(record.body.data() - bytes_.data());
    UnwindRange range;
    range.start = read_pointer(reader, encoding);
    if ((encoding & 0x70) == DW_EH_PE_pcrel) {
      range.start += here;
    } else if ((encoding & 0x70) != DW_EH_PE_absptr) {
      return;
    }
    range.end = range.start + read_pointer(reader, encoding & 0x07);
    if (common->has_augmentation) reader.skip(reader.uleb());
    FrameAddress frame = common->frame;
    execute_until_advance(reader, common->data_alignment, frame);
    if (!reader.ok() || range.end <= range.start) return;
    range.enters_function = frame.known && frame.reg == kStackPointer && frame.offset == 8 && !common->is_signal_frame;
    ranges.push_back(range);
  }

  std::span<const unsigned char> bytes_;
  std::uint64_t address_;
  std::unordered_map<std::size_t, std::optional<CommonEntry>> common_;
};

}  // namespace

std::vector<UnwindRange> read_unwind_table(std::span<const unsigned char> bytes, std::uint64_t address) {
  return Section(bytes, address).read();
}

}  // namespace loopfold::symbols
