// Where the values in a part come from, behind the copies in it: one pass over its instructions, with the source of
// every granule so far.
//
// A granule starts as what it was when the part began. A register copy and a merge hand sources on; a plain load is a
// source of its own, since whether it is a reload is known only when it runs; whatever else an instruction writes is
// made by it. A copy between registers whose granules are cut differently (movq xmm,rax) may take several sources into
// one granule; if they turn out to have different origins, it has none that is known.
#include <algorithm>

#include "ddg/part_code.h"

namespace loopfold::ddg {

namespace {

using trace::RegisterFile;
using trace::RegisterUse;
using trace::Transfer;

constexpr std::uint8_t kFramePointer = 5;

bool has_origins(RegisterFile file) { return file == RegisterFile::kGeneral || file == RegisterFile::kVector; }
bool is_data(const RegisterUse& use) { return !use.address && !use.merge && !use.step; }
bool is_stack_pointer(const RegisterUse& use) {
  return use.file == RegisterFile::kGeneral && use.index == kStackPointer;
}

/// The only one for which `is` holds, if there is only one.
template <class Is>
const RegisterUse* only(const std::vector<RegisterUse>& uses, Is is) {
  const RegisterUse* found = nullptr;
  for (const RegisterUse& use : uses) {
    if (!is(use)) continue;
    if (found != nullptr) return nullptr;
    found = &use;
  }
  return found;
}

const RegisterUse* only_data_read(const trace::InstructionFacts& facts) {
  const RegisterUse* read = only(facts.reads, is_data);
  return read != nullptr && has_origins(read->file) ? read : nullptr;
}
const RegisterUse* only_write(const trace::InstructionFacts& facts) {
  const RegisterUse* write = only(facts.writes, [](const RegisterUse& use) { return !use.step; });
  return write != nullptr && has_origins(write->file) ? write : nullptr;
}
bool uses_flags(const trace::InstructionFacts& facts) { return facts.flags_read != 0 || facts.flags_written != 0; }

bool is_register_copy(const trace::InstructionFacts& facts) {
  return facts.transfer == Transfer::kCopy && !trace::accesses_memory(facts) && only_data_read(facts) != nullptr &&
         only_write(facts) != nullptr;
}

/// Through the stack or frame pointer, and a constant.
bool is_at_constant_place(const trace::InstructionFacts& facts) {
  const auto is_address = [](const RegisterUse& use) { return use.address; };
  const auto is_pushed = [](const RegisterUse& use) { return use.step && is_stack_pointer(use); };
  if (std::none_of(facts.reads.begin(), facts.reads.end(), is_address))
    return std::any_of(facts.reads.begin(), facts.reads.end(), is_pushed);
  const RegisterUse* base = only(facts.reads, is_address);
  return base != nullptr && base->file == RegisterFile::kGeneral &&
         (base->index == kStackPointer || base->index == kFramePointer);
}

/// A constant, unless it has a data read.
bool stores_a_copy(const trace::InstructionFacts& facts) {
  if ((facts.kinds & trace::kLoad) != 0 || !is_at_constant_place(facts)) return false;
  if (only_data_read(facts) != nullptr) return facts.transfer == Transfer::kCopy;
  return facts.transfer != Transfer::kZero && !uses_flags(facts) &&
         std::none_of(facts.reads.begin(), facts.reads.end(), is_data);
}

bool is_plain_load(const trace::InstructionFacts& facts) {
  constexpr std::uint32_t kOthers = trace::kStore | trace::kArithmetic | trace::kRepeat | trace::kUnknown;
  const auto reads_more = [](const RegisterUse& use) { return is_data(use) || use.merge; };
  return (facts.kinds & trace::kLoad) != 0 && (facts.kinds & kOthers) == 0 && !uses_flags(facts) &&
         std::none_of(facts.reads.begin(), facts.reads.end(), reads_more) && only_write(facts) != nullptr;
}

const RegisterUse* kept_at(const trace::InstructionFacts& facts, const RegisterUse& target, std::uint8_t byte) {
  if (target.file != RegisterFile::kVector) return nullptr;
  for (const RegisterUse& read : facts.reads)
    if (read.merge && read.file == RegisterFile::kVector && read.byte <= byte && byte < read.byte + read.width)
      return &read;
  return nullptr;
}

bool is_itself(const OriginCode::Piece& piece) {
  return piece.source.kind == Source::Kind::kLiveIn && piece.source.index == piece.granule;
}

}  // namespace

OriginCompiler::OriginCompiler(const Granules& granules) : granules_(granules), granule_(granules.count()) {
  for (std::size_t i = 0; i < granule_.size(); ++i)
    granule_[i] = {kOutside, {Source::Kind::kLiveIn, 0, 0, static_cast<std::uint32_t>(i)}};
}

void OriginCompiler::add(const std::vector<trace::InstructionFacts>& facts, PartCode& code, std::uint32_t first) {
  code_ = &code;
  first_ = first;
  first_load_ = static_cast<std::uint32_t>(loads_.size());
  code.origins = {};
  for (std::uint16_t i = 0; i < code.instructions; ++i) {
    const trace::InstructionFacts& instruction = facts[std::size_t{code.first_instruction} + i];
    MemoryAccess* const access = only_access(i);
    const bool spills = access != nullptr && access->store && !access->guarded && stores_a_copy(instruction);
    uses(instruction, i, spills);
    if (spills) add_spill(instruction, *access);
    if (access != nullptr && !access->store && !access->guarded && is_plain_load(instruction))
      load(instruction, i, *access);
    else
      write(instruction, i);
  }
  // What the part leaves behind may be asked about later.
  for (const State& state : granule_)
    if (state.writer != kOutside && is_of_part(state.writer)) keep(state.source);
  code.origins.loads = loads_;
  code.origins.several = several_;
}

MemoryAccess* OriginCompiler::only_access(std::uint16_t instruction) {
  MemoryAccess* found = nullptr;
  for (MemoryAccess& access : code_->accesses) {
    if (access.instruction != instruction) continue;
    if (found != nullptr) return nullptr;
    found = &access;
  }
  return found;
}

std::vector<Granules::Piece> OriginCompiler::pieces_of(const RegisterUse& use) const {
  std::vector<Granules::Piece> pieces;
  granules_.of(use, pieces);
  return pieces;
}

std::vector<Granules::Piece> OriginCompiler::written_by(RegisterUse use) const {
  if (use.file == RegisterFile::kGeneral && use.width == 4) use.width = static_cast<std::uint8_t>(8 - use.byte);
  return pieces_of(use);
}

/// Bytes of the granule.
std::uint8_t OriginCompiler::bytes_of(const RegisterUse& use, std::uint8_t byte) const {
  RegisterUse whole = use;
  whole.byte = 0;
  whole.width = use.file == RegisterFile::kGeneral ? 8 : Granules::kVectorRegister;
  std::uint8_t end = whole.width;
  for (const Granules::Piece& piece : pieces_of(whole))
    if (piece.byte > byte) end = std::min(end, piece.byte);
  return static_cast<std::uint8_t>(end - byte);
}

void OriginCompiler::uses(const trace::InstructionFacts& facts, std::uint16_t number, bool spills) {
  const bool copies = is_register_copy(facts);
  for (std::size_t i = 0; i < facts.reads.size(); ++i) {
    const RegisterUse& read = facts.reads[i];
    if (!has_origins(read.file) || read.merge || read.step || is_stack_pointer(read)) continue;
    if (copies && is_data(read)) continue;
    use(read, number, static_cast<std::uint8_t>(i), spills && is_data(read));
  }
}

void OriginCompiler::use(const RegisterUse& read, std::uint16_t number, std::uint8_t operand, bool spilled) {
  OriginCode& origins = code_->origins;
  const auto first = static_cast<std::uint32_t>(origins.pieces.size());
  bool open = false;
  bool direct = true;
  for (const Granules::Piece& piece : pieces_of(read)) {
    const State& state = granule_[piece.granule];
    open = open || !is_made_here(state.source);
    direct = direct && state.writer == kOutside;
    origins.pieces.push_back({state.writer, static_cast<std::uint8_t>(piece.byte - std::min(piece.byte, read.byte)),
                              piece.granule, state.source, 1});
  }
  if (!open) return origins.pieces.resize(first);
  for (std::size_t i = first; i < origins.pieces.size(); ++i) keep(origins.pieces[i].source);
  find_runs(first);
  OriginCode::Use made;
  made.instruction = number;
  made.operand = operand;
  made.spilled = spilled;
  made.direct = direct;
  made.load = only_load(first);
  made.first = first;
  made.count = static_cast<std::uint32_t>(origins.pieces.size()) - first;
  made.granule = origins.pieces[first].granule;
  made.lane = origins.pieces[first].lane;
  if (direct) made.behind = GranuleSet::behind(made.granule, made.count);
  find_maker(made);
  origins.uses.push_back(made);
}

/// Of pieces, from `first` on.
void OriginCompiler::find_runs(std::size_t first) {
  std::vector<OriginCode::Piece>& pieces = code_->origins.pieces;
  for (std::size_t i = pieces.size(); i-- > first + 1;)
    if (goes_on(pieces[i - 1], pieces[i])) pieces[i - 1].run = static_cast<std::uint8_t>(pieces[i].run + 1);
}

/// The load that got all pieces from `first` on, and that one instruction wrote; kOutside: there is none.
std::uint32_t OriginCompiler::only_load(std::size_t first) const {
  const std::vector<OriginCode::Piece>& pieces = code_->origins.pieces;
  const OriginCode::Piece& one = pieces[first];
  if (one.source.kind != Source::Kind::kLoaded) return kOutside;
  for (std::size_t i = first + 1; i < pieces.size(); ++i) {
    const OriginCode::Piece& other = pieces[i];
    if (other.writer != one.writer || other.source.kind != Source::Kind::kLoaded) return kOutside;
    if (other.source.index != one.source.index) return kOutside;
  }
  return one.source.index;
}

/// The same of what an instruction of a part before made; and for both, the copy that brought it.
void OriginCompiler::find_maker(OriginCode::Use& use) const {
  const std::span<const OriginCode::Piece> pieces{code_->origins.pieces.data() + use.first, use.count};
  const OriginCode::Piece& one = pieces.front();
  if (one.writer == kOutside) return;
  const auto same = [&](const OriginCode::Piece& piece) {
    return piece.writer == one.writer && piece.source.kind == Source::Kind::kHere &&
           piece.source.index == one.source.index;
  };
  if (std::all_of(pieces.begin(), pieces.end(), same)) use.maker = one.source.index;
  const bool before = use.load != kOutside && use.load < first_load_;
  const std::uint32_t origin = use.maker != kOutside ? use.maker : before ? loads_[use.load].instruction : one.writer;
  if (origin == one.writer) return;
  use.copier = one.writer;
  use.local = is_of_part(one.writer);
}

/// By the part, whatever happens: a load that cannot be a reload is made here as well.
bool OriginCompiler::is_made_here(const Source& source) const {
  if (source.kind == Source::Kind::kLoaded) return source.index >= first_load_ && !reloads_[source.index];
  return source.kind == Source::Kind::kHere && is_of_part(source.index);
}

void OriginCompiler::keep(const Source& source) {
  if (source.kind == Source::Kind::kLoaded) loads_[source.index].kept = true;
  if (source.kind != Source::Kind::kSeveral) return;
  for (std::size_t i = 0; i < source.bytes; ++i) keep(several_[source.index + i]);
}

void OriginCompiler::add_spill(const trace::InstructionFacts& facts, MemoryAccess& access) {
  OriginCode& origins = code_->origins;
  OriginCode::Spill spill;
  spill.first = static_cast<std::uint32_t>(origins.pieces.size());
  if (const RegisterUse* read = only_data_read(facts)) {
    for (const Granules::Piece& piece : pieces_of(*read)) {
      const State& state = granule_[piece.granule];
      keep(state.source);
      origins.pieces.push_back(
          {state.writer, static_cast<std::uint8_t>(piece.byte - read->byte), piece.granule, state.source, 1});
      ++spill.count;
    }
    find_runs(spill.first);
  }
  access.spill = static_cast<std::uint16_t>(origins.spills.size());
  origins.spills.push_back(spill);
}

void OriginCompiler::load(const trace::InstructionFacts& facts, std::uint16_t number, MemoryAccess& access) {
  const auto index = static_cast<std::uint32_t>(loads_.size());
  access.load = static_cast<std::uint16_t>(index);
  access.reloads = facts.transfer == Transfer::kCopy;
  loads_.push_back({first_ + number, false});
  reloads_.push_back(access.reloads);
  write(facts, number);
  const RegisterUse& target = *only_write(facts);
  if (is_stack_pointer(target)) return;
  for (const Granules::Piece& piece : written_by(target))
    granule_[piece.granule].source = {Source::Kind::kLoaded, static_cast<std::uint8_t>(piece.byte - target.byte),
                                      bytes_of(target, piece.byte), index};
}

/// All that an instruction writes, copies and merges included.
void OriginCompiler::write(const trace::InstructionFacts& facts, std::uint16_t number) {
  const bool copies = is_register_copy(facts);
  const bool merges = !trace::accesses_memory(facts);
  const auto is_vector = [](const RegisterUse& use) { return use.file == RegisterFile::kVector; };
  std::vector<State> before;
  if (copies || (merges && std::any_of(facts.writes.begin(), facts.writes.end(), is_vector))) before = granule_;
  for (const RegisterUse& target : facts.writes) {
    if (!has_origins(target.file)) continue;
    for (const Granules::Piece& piece : written_by(target)) {
      State& state = granule_[piece.granule];
      state = {first_ + number, {Source::Kind::kHere, 0, 0, first_ + number}};
      if (is_stack_pointer(target)) {
        state.source = {Source::Kind::kNone, 0, 0, 0};
      } else if (const RegisterUse* kept = merges ? kept_at(facts, target, piece.byte) : nullptr) {
        state.source = taken(before, *kept, piece.byte, bytes_of(target, piece.byte));
      } else if (copies && !target.step) {
        const RegisterUse& read = *only_data_read(facts);
        const int byte = piece.byte - target.byte;
        state.source = byte < read.width ? taken(before, read, static_cast<std::uint8_t>(read.byte + byte),
                                                 bytes_of(target, piece.byte))
                                         : Source{Source::Kind::kNone, 0, 0, 0};
      }
    }
  }
}

/// The source of some bytes of a register, from `byte` on.
Source OriginCompiler::taken(const std::vector<State>& before, RegisterUse from, std::uint8_t byte,
                             std::uint8_t bytes) {
  from.byte = byte;
  from.width = bytes;
  std::vector<Source> sources;
  for (const Granules::Piece& piece : pieces_of(from)) {
    Source source = before[piece.granule].source;
    if (source.kind == Source::Kind::kLoaded && piece.byte < byte)
      source.byte = static_cast<std::uint8_t>(source.byte + byte - piece.byte);
    if (source.kind == Source::Kind::kLoaded) source.bytes = std::min(source.bytes, bytes);
    if (sources.empty() || !(sources.back() == source)) sources.push_back(source);
  }
  if (sources.size() == 1) return sources.front();
  const auto first = static_cast<std::uint32_t>(several_.size());
  several_.insert(several_.end(), sources.begin(), sources.end());
  return {Source::Kind::kSeveral, 0, static_cast<std::uint8_t>(sources.size()), first};
}

void OriginCompiler::finish(OriginCode& into) const {
  into.loads = loads_;
  into.several = several_;
  for (std::size_t i = 0; i < granule_.size(); ++i) {
    const State& state = granule_[i];
    if (state.writer == kOutside || state.source == Source{Source::Kind::kHere, 0, 0, state.writer}) continue;
    into.outs.push_back({static_cast<Granule>(i), state.source, 1, {}});
  }
  const auto others = std::stable_partition(into.outs.begin(), into.outs.end(), [](const OriginCode::Out& out) {
    return out.source.kind == Source::Kind::kLiveIn || out.source.kind == Source::Kind::kSeveral;
  });
  into.moved_outs = static_cast<std::uint32_t>(others - into.outs.begin());
  for (const OriginCode::Out& out : into.outs) {
    into.parted.add(out.granule);
    into.parted.add(out.granule + std::size_t{1});
  }
  into.parted_words = into.parted.words();
  for (std::size_t i = into.outs.size(); i-- > 1;)
    if (goes_on(into.outs[i - 1], into.outs[i]))
      into.outs[i - 1].run = static_cast<std::uint16_t>(into.outs[i].run + 1);
  for (OriginCode::Out& out : into.outs) out.joined = joined(out);
}

/// Those of a run that the instruction wrote that wrote the one before.
GranuleSet::Some OriginCompiler::joined(const OriginCode::Out& out) const {
  GranuleSet::Some some = GranuleSet::behind(out.granule, out.run);
  const std::size_t begin = some.byte * std::size_t{8};
  for (std::size_t i = 1; i < out.run; ++i)
    if (granule_[out.granule + i].writer != granule_[out.granule + i - 1].writer)
      some.bits &= ~(std::uint64_t{1} << (out.granule + i - begin));
  return some;
}

bool OriginCompiler::goes_on(const OriginCode::Out& a, const OriginCode::Out& b) const {
  return granules_.are_neighbours(a.granule, b.granule) && goes_on(a.source, b.source);
}

/// What was written before the part is its own source.
bool OriginCompiler::goes_on(const OriginCode::Piece& a, const OriginCode::Piece& b) const {
  const bool outside = a.writer == kOutside;
  return a.writer == b.writer && goes_on(a.source, b.source) && (!outside || (is_itself(a) && is_itself(b)));
}

bool OriginCompiler::goes_on(const Source& a, const Source& b) const {
  if (a.kind != b.kind) return false;
  if (a.kind == Source::Kind::kNone) return true;
  if (a.kind == Source::Kind::kLoaded || a.kind == Source::Kind::kHere) return a.index == b.index;
  return a.kind == Source::Kind::kLiveIn &&
         granules_.are_neighbours(static_cast<Granule>(a.index), static_cast<Granule>(b.index));
}

void compile_origins(const std::vector<trace::InstructionFacts>& facts, const Granules& granules, PartCode& code) {
  OriginCompiler compiler(granules);
  compiler.add(facts, code, 0);
  compiler.finish(code.origins);
}

}  // namespace loopfold::ddg
