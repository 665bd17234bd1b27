// One pass over the instructions of a part, with the last writer of every granule so far.
#include "ddg/part_code.h"

#include <algorithm>
#include <array>

namespace loopfold::ddg {

namespace {

using trace::RegisterFile;

constexpr std::size_t kFlagCount = 6;

constexpr std::array<std::uint8_t, 5> kGeneralBounds{0, 1, 2, 4, 8};

bool carries_data(RegisterFile file) {
  return file == RegisterFile::kGeneral || file == RegisterFile::kVector || file == RegisterFile::kX87 ||
         file == RegisterFile::kMmx;
}

/// The recorder sees a write of 4 bytes as one of 8, upper half zero; the instruction tells.
std::uint8_t width_of(const trace::IntegerResult& result, const trace::InstructionFacts& facts) {
  if (result.width != 8) return result.width;
  for (const trace::RegisterUse& write : facts.writes)
    if (write.file == RegisterFile::kGeneral && write.index == result.reg && write.zero_extended) return 4;
  return result.width;
}

/// Whether a result is what the instruction loaded.
bool is_loaded(const trace::IntegerResult& result, const trace::InstructionFacts& facts) {
  if ((facts.kinds & trace::kLoad) == 0 || facts.transfer != trace::Transfer::kCopy) return false;
  for (const trace::RegisterUse& write : facts.writes)
    if (write.file == RegisterFile::kGeneral && write.index == result.reg) return !write.step;
  return false;
}

/// Whether a result is the stack pointer, computed from what it was: no value that was brought from elsewhere.
bool is_moved_pointer(const trace::IntegerResult& result, const trace::InstructionFacts& facts) {
  const auto pointer = [](const trace::RegisterUse& use) {
    return use.file == RegisterFile::kGeneral && use.index == kStackPointer;
  };
  if (result.reg != kStackPointer) return false;
  for (const trace::RegisterUse& write : facts.writes)
    if (pointer(write) && write.step) return true;
  return facts.transfer == trace::Transfer::kCompute && std::any_of(facts.reads.begin(), facts.reads.end(), pointer);
}

/// A write of 4 bytes to a general register clears the upper half.
std::uint32_t end_of_write(const trace::RegisterUse& use) {
  if (use.file == RegisterFile::kGeneral && use.width == 4) return 8;
  return use.byte + use.width;
}

class Compiler {
 public:
  Compiler(const Granules& granules, PartCode& code) : granules_(granules), code_(code) {
    writer_.assign(granules.count(), kOutside);
  }

  void instruction(const trace::InstructionFacts& facts, std::uint16_t number, int top, std::size_t accesses) {
    for (std::size_t i = 0; i < facts.reads.size(); ++i) {
      read_register(facts.reads[i], number, static_cast<std::uint8_t>(i), top);
      ++code_.operands;
    }
    read_flags(facts, number);
    ++code_.operands;
    first_access_operand_.push_back(code_.operands);
    code_.operands += static_cast<std::uint32_t>(accesses);
    for (const trace::RegisterUse& write : facts.writes) write_register(write, number, top);
    for (std::size_t flag = 0; flag < kFlagCount; ++flag)
      if ((facts.flags_written >> flag & 1) != 0) writer_[Granules::kFlags + flag] = number;
  }

  std::uint32_t first_access_operand(std::uint16_t instruction) const { return first_access_operand_[instruction]; }

  void finish() {
    for (std::size_t granule = 0; granule < writer_.size(); ++granule) {
      if (writer_[granule] == kOutside) continue;
      const bool x87 = granule >= Granules::kX87 && granule < Granules::kX87 + 8;
      std::vector<LiveOut>& outs = x87 ? code_.x87_live_outs : code_.live_outs;
      const bool goes_on = !x87 && !outs.empty() && outs.back().granule + std::size_t{outs.back().count} == granule &&
                           outs.back().instruction == writer_[granule];
      if (goes_on)
        ++outs.back().count;
      else
        outs.push_back({static_cast<Granule>(granule), 1, static_cast<std::uint16_t>(writer_[granule])});
    }
    for (const LiveOut& out : code_.live_outs) {
      for (std::size_t i = 0; i <= out.count; ++i) code_.parted.add(out.granule + i);
      for (std::size_t i = 1; i < out.count; ++i) code_.joined.add(out.granule + i);
    }
    code_.parted_words = code_.parted.words();
    for (RegisterRead& read : code_.reads) {
      const Granule first = code_.live_ins[read.first].granule;
      read.consecutive = !read.x87 && first + read.count == code_.live_ins[read.first + read.count - 1].granule + 1u;
      if (read.consecutive) read.behind = GranuleSet::behind(first, read.count);
    }
    std::sort(code_.local.begin(), code_.local.end());
  }

 private:
  static trace::RegisterUse physical(trace::RegisterUse use, int top) {
    if (use.file == RegisterFile::kX87) use.index = static_cast<std::uint8_t>((use.index + top) & 7);
    return use;
  }

  void read_register(const trace::RegisterUse& use, std::uint16_t number, std::uint8_t operand, int top) {
    if (!carries_data(use.file)) return;
    pieces_.clear();
    granules_.of(physical(use, top), pieces_);
    begin_operand(number, operand, use.address, use.file == RegisterFile::kX87);
    for (const Granules::Piece& piece : pieces_)
      read_granule(piece.granule, static_cast<std::uint8_t>(piece.byte - std::min(piece.byte, use.byte)));
  }

  void read_flags(const trace::InstructionFacts& facts, std::uint16_t number) {
    begin_operand(number, kFlagsOperand, false, false);
    for (std::uint8_t flag = 0; flag < kFlagCount; ++flag)
      if ((facts.flags_read >> flag & 1) != 0) read_granule(static_cast<Granule>(Granules::kFlags + flag), flag);
  }

  void begin_operand(std::uint16_t number, std::uint8_t operand, bool address, bool x87) {
    read_ = {number, operand, address, x87, code_.operands, 0, 0, true, {}, 0, 0};
    last_ = kNothing;
  }

  /// The next granule of the operand: goes on with the chunk before it, or begins another.
  void read_granule(Granule granule, std::uint8_t lane) {
    const std::uint32_t writer = writer_[granule];
    if (writer == kOutside) {
      if (last_ != kOutside) {
        code_.reads.push_back(read_);
        code_.reads.back().first = static_cast<std::uint32_t>(code_.live_ins.size());
      }
      code_.live_ins.push_back({granule, lane});
      ++code_.reads.back().count;
    } else if (last_ != writer) {
      code_.local.push_back({static_cast<std::uint16_t>(writer), read_.instruction, read_.operand, lane});
    }
    last_ = writer;
  }

  void write_register(const trace::RegisterUse& use, std::uint16_t number, int top) {
    if (!carries_data(use.file)) return;
    trace::RegisterUse whole = physical(use, top);
    if (use.file == RegisterFile::kGeneral) whole.width = static_cast<std::uint8_t>(end_of_write(use) - use.byte);
    pieces_.clear();
    granules_.of(whole, pieces_);
    for (const Granules::Piece& piece : pieces_) writer_[piece.granule] = number;
  }

  static constexpr std::uint32_t kNothing = 0x10000;  // no instruction, and not kOutside

  const Granules& granules_;
  PartCode& code_;
  std::vector<std::uint32_t> writer_;  // by granule: the last instruction that wrote it
  std::vector<std::uint32_t> first_access_operand_;
  std::vector<Granules::Piece> pieces_;
  RegisterRead read_;
  std::uint32_t last_ = kNothing;  // writer of the granule before, of this operand
};

}  // namespace

void Granules::of(const trace::RegisterUse& use, std::vector<Piece>& into) const {
  const std::uint32_t end = use.byte + use.width;
  switch (use.file) {
    case RegisterFile::kGeneral:
      for (std::size_t i = 0; i + 1 < kGeneralBounds.size(); ++i) {
        if (kGeneralBounds[i] >= end || kGeneralBounds[i + 1] <= use.byte) continue;
        into.push_back({static_cast<Granule>(use.index * 4 + i), kGeneralBounds[i]});
      }
      break;
    case RegisterFile::kVector: {
      const auto first = static_cast<std::uint32_t>(kVector + use.index * (kVectorRegister / vector_bytes_));
      const std::uint32_t limit = std::min<std::uint32_t>(end, kVectorRegister);
      for (std::uint32_t byte = use.byte / vector_bytes_ * vector_bytes_; byte < limit; byte += vector_bytes_)
        into.push_back({static_cast<Granule>(first + byte / vector_bytes_), static_cast<std::uint8_t>(byte)});
      break;
    }
    case RegisterFile::kX87:
      into.push_back({static_cast<Granule>(kX87 + (use.index & 7)), use.byte});
      break;
    case RegisterFile::kMmx:
      into.push_back({static_cast<Granule>(kMmx + (use.index & 7)), use.byte});
      break;
    default:
      break;
  }
}

void Granules::of_general(std::uint8_t index, std::vector<Piece>& into) const {
  of({.file = RegisterFile::kGeneral, .index = index, .width = 8}, into);
}

void Granules::of_vector(std::uint8_t index, std::uint8_t bytes, std::vector<Piece>& into) const {
  of({.file = RegisterFile::kVector, .index = index, .width = bytes}, into);
}

namespace {

/// As it is: what it does not load of the register has no origin.
bool loads_a_vector(const trace::InstructionFacts& facts) {
  const auto vector = [](const trace::RegisterUse& use) { return use.file == RegisterFile::kVector; };
  return facts.transfer == trace::Transfer::kCopy && (facts.kinds & trace::kLoad) != 0 &&
         std::any_of(facts.writes.begin(), facts.writes.end(), vector);
}

}  // namespace

Granules granules_for(std::span<const trace::Block> blocks,
                      const std::vector<std::vector<trace::InstructionFacts>>& facts) {
  std::uint32_t bits = 8;
  const auto note = [&](const std::vector<trace::RegisterUse>& uses) {
    for (const trace::RegisterUse& use : uses)
      if (use.file == RegisterFile::kVector) bits |= use.byte | (use.byte + use.width);
  };
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    for (const trace::InstructionFacts& instruction : facts[block]) {
      note(instruction.reads);
      note(instruction.writes);
    }
    for (const trace::Access& access : blocks[block].accesses)
      if (access.instruction < facts[block].size() && loads_a_vector(facts[block][access.instruction]))
        bits |= access.size;
  }
  return Granules(bits & (~bits + 1));
}

namespace {

void lay_out_row(PartCode& code) {
  RowCode& row = code.row;
  row.reads = RowCode::kHeader + static_cast<std::uint32_t>(code.values.size());
  row.words = row.reads;
  for (RegisterRead& read : code.reads) {
    read.in_row = row.words;
    read.number = static_cast<std::uint16_t>(&read - code.reads.data());
    row.words += RowCode::kCell;
  }
  for (MemoryAccess& access : code.accesses) {
    access.in_row = row.words;
    row.words += RowCode::kPlace + (access.store ? 0 : RowCode::kCell);
  }
  row.possible = code.x87_live_outs.empty() &&
                 std::none_of(code.reads.begin(), code.reads.end(), [](const RegisterRead& read) { return read.x87; });
}

}  // namespace

bool have_same_rows(const PartCode& a, const PartCode& b) {
  const auto same_read = [&](const RegisterRead& x, const RegisterRead& y) {
    const auto granules = [](const PartCode& code, const RegisterRead& read) {
      return std::span(code.live_ins).subspan(read.first, read.count);
    };
    const auto same = [](const LiveIn& m, const LiveIn& n) { return m.granule == n.granule && m.lane == n.lane; };
    return x.instruction == y.instruction && x.operand == y.operand && x.address == y.address && x.x87 == y.x87 &&
           x.dense == y.dense && std::ranges::equal(granules(a, x), granules(b, y), same);
  };
  const auto same_access = [](const MemoryAccess& x, const MemoryAccess& y) {
    return x.instruction == y.instruction && x.index == y.index && x.store == y.store && x.guarded == y.guarded &&
           x.size == y.size && x.dense == y.dense && x.operand == y.operand;
  };
  const auto same_value = [](const IntegerValue& x, const IntegerValue& y) {
    return x.instruction == y.instruction && x.index == y.index && x.reg == y.reg && x.width == y.width &&
           x.dense == y.dense;
  };
  return a.row.possible == b.row.possible && std::ranges::equal(a.reads, b.reads, same_read) &&
         std::ranges::equal(a.accesses, b.accesses, same_access) && std::ranges::equal(a.values, b.values, same_value);
}

PartCode compile_part(const trace::Block& block, const std::vector<trace::InstructionFacts>& facts,
                      const structure::Part& part, std::size_t accesses, std::size_t results,
                      const Granules& granules) {
  PartCode code;
  code.block = block.id;
  code.first_instruction = part.first_instruction;
  code.instructions = part.instructions;
  const std::size_t begin = part.first_instruction;
  const std::size_t end = std::min<std::size_t>(begin + part.instructions, facts.size());

  std::vector<std::size_t> accesses_of(block.lengths.size());
  for (const trace::Access& access : block.accesses)
    if (access.instruction < accesses_of.size()) ++accesses_of[access.instruction];

  Compiler compiler(granules, code);
  int top = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (i >= begin) {
      compiler.instruction(facts[i], static_cast<std::uint16_t>(i - begin), top, accesses_of[i]);
      code.unknown = code.unknown || (facts[i].kinds & trace::kUnknown) != 0;
    }
    top += facts[i].x87_pops;
  }
  compiler.finish();

  std::uint32_t dense = 0;
  std::vector<std::uint8_t> seen(block.lengths.size());
  for (std::size_t i = 0; i < std::min(accesses, block.accesses.size()); ++i) {
    const trace::Access& access = block.accesses[i];
    if (access.instruction < begin || access.instruction >= end) continue;
    if (!trace::accesses_memory(facts[access.instruction])) continue;
    const auto number = static_cast<std::uint16_t>(access.instruction - begin);
    const std::uint8_t index = seen[access.instruction]++;
    code.accesses.push_back({number, index, access.kind == trace::Access::Kind::kStore, access.guarded, access.size,
                             dense++, compiler.first_access_operand(number) + index, access.address, MemoryAccess::kNo,
                             MemoryAccess::kNo, false});
  }
  std::fill(seen.begin(), seen.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < std::min(results, block.results.size()); ++i) {
    const trace::IntegerResult& result = block.results[i];
    if (result.instruction < begin || result.instruction >= end) continue;
    code.values.push_back({static_cast<std::uint16_t>(result.instruction - begin), seen[result.instruction]++,
                           result.reg, width_of(result, facts[result.instruction]),
                           is_loaded(result, facts[result.instruction]),
                           is_moved_pointer(result, facts[result.instruction]),
                           static_cast<std::uint32_t>(code.values.size()), result.value});
  }
  for (std::uint32_t i = 0; i < code.values.size(); ++i)
    if (code.values[i].reg == kStackPointer && code.values[i].width == 8) code.pointers.push_back(i);
  code.moves_stack_pointer = !code.pointers.empty();
  compile_origins(facts, granules, code);
  lay_out_row(code);
  return code;
}

void PartNumbers::renumber(PartCode& code) {
  for (RegisterRead& read : code.reads) read.dense = number(operands_, {read.instruction, read.operand, 0, 0});
  for (OriginCode::Use& use : code.origins.uses) use.dense = number(operands_, {use.instruction, use.operand, 0, 0});
  for (MemoryAccess& access : code.accesses) {
    const Key key{access.instruction, access.index, access.store, access.size};
    access.dense = number(accesses_, key);
    if (!access.store) access.operand = number(operands_, {access.instruction, kFirstMemoryOperand, access.index, 0});
  }
  for (IntegerValue& value : code.values)
    value.dense = number(values_, {value.instruction, value.index, value.reg, value.width});
  code.operands = static_cast<std::uint32_t>(operands_.size());
}

}  // namespace loopfold::ddg
