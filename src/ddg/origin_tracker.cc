#include "ddg/origin_tracker.h"

#include <algorithm>
#include <cstring>

// What runs for every part is one function each ("flatten"): most of what these call is shorter than a call.

namespace loopfold::ddg {

Provenance OriginTracker::provenance_of(const Value& value) {
  if (value.load != nullptr) return *value.load;
  Provenance provenance;
  provenance.origin = value.origin;
  provenance.none = value.none;
  return provenance;
}

/// Of two neighbours in one granule: what has no origin (zeroes beyond a copy) does not count.
OriginTracker::Value OriginTracker::together(const Value& a, const Value& b) {
  if (a.unknown || (b.none && !b.unknown) || a.same(b)) return a;
  if (a.none || b.unknown) return b;
  return {{}, true, nullptr, true};
}

OriginTracker::Value OriginTracker::loaded(const Source& source) const {
  const Loaded& load = loads_[source.index];
  if (!load.reload) return {load.itself.origin, false, &load.itself};
  if (source.byte >= load.size) return {{}, true, nullptr};
  Value value = value_of(load.reloaded.at(source.byte));
  const std::size_t end = std::min<std::size_t>(std::size_t{source.byte} + source.bytes, load.size);
  for (std::size_t byte = load.reloaded.end_at(source.byte); byte < end; byte = load.reloaded.end_at(byte))
    value = together(value, value_of(load.reloaded.at(byte)));
  return value;
}

OriginTracker::Value OriginTracker::value(const Source& source) const {
  switch (source.kind) {
    case Source::Kind::kHere:
      return {cell(source.index), false, nullptr};
    case Source::Kind::kLiveIn:
      return found(source.index);
    case Source::Kind::kLoaded:
      return loaded(source);
    case Source::Kind::kSeveral: {
      Value all = value(code_->origins.several[source.index]);
      for (std::size_t i = 1; i < source.bytes; ++i)
        all = together(all, value(code_->origins.several[source.index + i]));
      return all;
    }
    case Source::Kind::kNone:
      break;
  }
  return {{}, true, nullptr};
}

const Provenance& OriginTracker::provenance(const Source& source, Provenance& made) const {
  if (source.kind == Source::Kind::kLiveIn && where_[source.index] == RegisterOrigins::kKept &&
      writers_[source.index].producer != 0)
    return kept_[source.index];
  if (source.kind == Source::Kind::kLoaded && !loads_[source.index].reload) return loads_[source.index].itself;
  return made = provenance_of(value(source));
}

/// What all bytes that were got back have, up to the last ones of these, if it is the same; else null.
const Provenance* OriginTracker::reloaded_as_a_whole(const Loaded& load, const Source& last) {
  const std::size_t end = std::min<std::size_t>(std::size_t{last.byte} + last.bytes, load.size);
  return last.byte < load.size ? load.reloaded.only(static_cast<std::uint8_t>(end - 1)) : nullptr;
}

/// Whether granules had one writer and one origin when the part began, as nearly all have that are in one register.
bool OriginTracker::is_one_chunk(Granule first, std::uint32_t count) {
  const GranuleSet::Some behind = GranuleSet::behind(first, count);
  if (registers_->joined.has(behind)) return true;
  if (!compare_chunk(first, count)) return false;
  if (Granules::has_neighbours(first)) registers_->joined.add(behind);
  return true;
}

bool OriginTracker::compare_chunk(Granule first, std::uint32_t count) const {
  if (!are_equal(writers_ + first, count)) return false;
  const std::uint8_t* const where = where_ + first;
  for (std::uint32_t i = 0; i < count; i += 8) {
    std::uint64_t some = 0;
    std::memcpy(&some, where + i, sizeof(some));
    some ^= where[0] * 0x0101010101010101u;
    if (count - i < 8) some &= (std::uint64_t{1} << (count - i) * 8) - 1;
    if (some != 0) return false;
  }
  if (where[0] != RegisterOrigins::kKept) return true;
  const Provenance* const kept = kept_ + first;
  for (std::uint32_t i = 1; i < count; ++i)
    if (!kept[i].same_origin(kept[0])) return false;
  return true;
}

/// Of what was written before the part, granule by granule.
void OriginTracker::use_chunks(const OriginRecords::Reader& reader, const OriginCode::Use& use) {
  const auto origin = [&](Granule granule) -> const Cell& {
    return where_[granule] == RegisterOrigins::kKept ? kept_[granule].origin : writers_[granule];
  };
  const auto is_like = [&](Granule a, Granule b) {
    const bool none = where_[a] == RegisterOrigins::kNowhere;
    return writers_[a] == writers_[b] && none == (where_[b] == RegisterOrigins::kNowhere) &&
           (none || origin(a) == origin(b));
  };
  const OriginCode::Piece* const pieces = code_->origins.pieces.data() + use.first;
  for (std::uint32_t i = 0; i < use.count; ++i) {
    const auto granule = static_cast<Granule>(use.granule + i);
    if (i > 0 && is_like(granule, static_cast<Granule>(granule - 1))) continue;
    use_chunk(reader, pieces[i].lane, granule);
  }
}

/// Neighbours with one writer and one origin are one chunk.
[[gnu::noinline, gnu::flatten]] void OriginTracker::use_register(const OriginRecords::Reader& reader,
                                                                 const OriginCode::Use& use) {
  if (use.direct) {
    if (is_one_chunk(use.granule, use.count)) return use_chunk(reader, use.lane, use.granule);
    return use_chunks(reader, use);
  }
  Cell before;
  Value before_value;
  const OriginCode::Piece* const end = code_->origins.pieces.data() + use.first + use.count;
  for (const OriginCode::Piece* piece = end - use.count; piece < end; piece += goes_on_for(*piece)) {
    const Cell writer = piece->writer == kOutside ? writers_[piece->granule] : cell(piece->writer);
    if (writer.producer == 0) {
      before = {};
      continue;
    }
    const Value value = this->value(piece->source);
    if (writer == before && value.same(before_value)) continue;
    before = writer;
    before_value = value;
    records_.use(reader, piece->lane, writer, value);
  }
}

/// So many pieces, from this one on, are sure to have one writer and one origin, as nearly all have that are in one
/// register.
std::uint32_t OriginTracker::goes_on_for(const OriginCode::Piece& piece) {
  if (piece.run == 1) return 1;
  const Source& source = piece.source;
  if (source.kind == Source::Kind::kLoaded) {
    const Loaded& load = loads_[source.index];
    return !load.reload || reloaded_as_a_whole(load, (&piece)[piece.run - 1].source) != nullptr ? piece.run : 1;
  }
  if (source.kind == Source::Kind::kLiveIn)
    return is_one_chunk(static_cast<Granule>(source.index), piece.run) ? piece.run : 1;
  return piece.run;
}

void OriginTracker::use_arguments(const Instance& instance, std::uint8_t operand, std::span<const LiveIn> granules,
                                  const std::vector<Cell>& writers, const RegisterOrigins& registers) {
  if (!instance.followed) return;
  begin(instance, &records_.uses(instance.site, operand + 1u));
  look_at(writers, const_cast<RegisterOrigins&>(registers));
  const OriginRecords::Reader& reader = this->reader(0, operand, operand);
  Cell before;
  Value before_value;
  for (const LiveIn& in : granules) {
    const Cell& writer = writers[in.granule];
    const Value value = found(in.granule);
    const bool goes_on = writer == before && value.same(before_value);
    before = writer;
    before_value = value;
    if (!goes_on && writer.producer != 0) records_.use(reader, in.lane, writer, value);
  }
}

void OriginTracker::spill(const MemoryAccess& access, std::uint64_t address, const Cell& store) {
  const OriginCode::Spill& code = code_->origins.spills[access.spill];
  Spill& spill = spills_.at(address, access.size, memory_);
  spill.cell = store;
  spill.value.clear();
  const OriginCode::Piece* const pieces = code_->origins.pieces.data() + code.first;
  for (std::uint32_t i = 0; i < code.count;) {
    const Source& source = pieces[i].source;
    i += goes_on_for(pieces[i]);
    const std::uint32_t end = i < code.count ? pieces[i].lane : access.size;
    Provenance made;
    spill.value.add(static_cast<std::uint8_t>(end), provenance(source, made));
  }
  if (code.count == 0) spill.value.add(static_cast<std::uint8_t>(access.size), provenance_of({store, false, nullptr}));
  if (store.producer >= spilled_.size()) spilled_.resize(store.producer + std::size_t{1});
  spilled_[store.producer] = static_cast<std::uint8_t>(access.size);
}

/// What a load got, for what comes behind it in the part or after it.
void OriginTracker::keep_load(const MemoryAccess& access, std::uint64_t address, std::span<const Chunk> chunks,
                              const Spill* spill) {
  Loaded& loaded = loads_[access.load];
  loaded.reload = spill != nullptr;
  loaded.size = access.size;
  if (spill != nullptr) {
    loaded.reloaded = spill->value;
    mixed_ = mixed_ || spill->value.only(static_cast<std::uint8_t>(access.size - 1)) == nullptr;
    return;
  }
  Provenance& itself = loaded.itself;
  itself = {};
  itself.origin = {first_definition_ + access.instruction, reader_.entry, reader_.counter};
  itself.address = address;
  itself.size = access.size;
  itself.load = true;
  if (chunks.size() == 1 && chunks[0].size == access.size && chunks[0].cell.producer != kLostProducer)
    itself.writers = chunks[0].cell;
  else if (!chunks.empty())
    note_writers(memory_, itself);
}

/// Bytes of a chunk that have different origins are chunks of their own.
void OriginTracker::use_spilled(const OriginRecords::Reader& reader, const Spill& spill, std::uint64_t address,
                                const Chunk& chunk) {
  for (std::uint64_t offset = chunk.offset; offset < chunk.offset + chunk.size;) {
    const auto byte = static_cast<std::uint8_t>(address + offset - spill.address);
    records_.use(reader, static_cast<std::uint16_t>(offset), chunk.cell, value_of(spill.value.at(byte)));
    offset += static_cast<std::uint64_t>(spill.value.end_at(byte) - byte);
  }
}

[[gnu::flatten]] void OriginTracker::move_outs() {
  const OriginCode& code = code_->origins;
  if (moved_.size() < code.moved_outs) moved_.resize(code.moved_outs);
  for (std::uint32_t i = 0; i < code.moved_outs; i += moved_[i].run) move(code.outs[i], moved_[i]);
}

/// A register that is one chunk is moved as a whole.
void OriginTracker::move(const OriginCode::Out& out, Moved& into) {
  const bool whole = out.run > 1 && is_one_chunk(static_cast<Granule>(out.source.index), out.run);
  into.run = whole ? out.run : std::uint16_t{1};
  const Value value = this->value(out.source);
  into.where = value.none ? RegisterOrigins::kNowhere : RegisterOrigins::kKept;
  if (!value.none) into.provenance = provenance_of(value);
}

void OriginTracker::keep(Granule granule, const Value& value) {
  registers_->where[granule] = value.none ? RegisterOrigins::kNowhere : RegisterOrigins::kKept;
  if (!value.none) registers_->kept[granule] = provenance_of(value);
}

/// What all of a run of outs got, which nothing of before the part is among, if it is the same for all of them; else
/// null. It may be put into `made`.
const Provenance* OriginTracker::got_as_a_whole(const OriginCode::Out* outs, Provenance& made) const {
  if (outs->source.kind != Source::Kind::kLoaded) {
    made = provenance_of(value(outs->source));
    return &made;
  }
  const Loaded& load = loads_[outs->source.index];
  if (!load.reload) return &load.itself;
  return reloaded_as_a_whole(load, outs[outs->run - 1].source);
}

/// So many of the run of outs that begins there. Most are a general register: then all that is done knows that.
[[gnu::always_inline]] inline void OriginTracker::fill(const OriginCode::Out& out, std::uint16_t run,
                                                       RegisterOrigins::Where where, const Provenance& kept) {
  RegisterOrigins& registers = *registers_;
  const auto fill_so_many = [&](std::size_t count) __attribute__((always_inline)) {
    registers.set_where(out.granule, count, where);
    if (where == RegisterOrigins::kKept) fill_provenances(registers.kept.data() + out.granule, count, kept);
  };
  if (run == RegisterOrigins::kOfGeneral) [[likely]]
    fill_so_many(RegisterOrigins::kOfGeneral);
  else
    fill_so_many(run);
  if (run == out.run) registers.joined.add(out.joined);
}

/// Only what is done as a whole is known to be one chunk.
void OriginTracker::write_outs() {
  const OriginCode& code = code_->origins;
  registers_->joined.remove(code.parted, code.parted_words);
  const OriginCode::Out* out = code.outs.data();
  const OriginCode::Out* const end = out + code.outs.size();
  const OriginCode::Out* const made_from = out + code.moved_outs;
  for (const Moved* moved = moved_.data(); out < made_from; out += moved->run, moved += moved->run)
    fill(*out, moved->run, moved->where, moved->provenance);
  while (out < end) {
    Provenance made;
    if (out->source.kind == Source::Kind::kLoaded && !loads_[out->source.index].reload) {
      fill(*out, out->run, RegisterOrigins::kKept, loads_[out->source.index].itself);
      out += out->run;
    } else if (const Provenance* const got = got_as_a_whole(out, made)) {
      fill(*out, out->run, got->none ? RegisterOrigins::kNowhere : RegisterOrigins::kKept, *got);
      out += out->run;
    } else {
      keep(out->granule, value(out->source));
      ++out;
    }
  }
}

/// Where several wrote what a load got, their entries are not kept for it: if they are others by now, that is noted.
void OriginTracker::mark(Entries& entries, std::span<RegisterOrigins* const> registers) {
  const auto look_at = [&](Provenance& provenance) {
    if (provenance.none) return;
    entries.mark(provenance.origin.entry);
    if (!provenance.load) return;
    if (provenance.mixed)
      provenance.stale = is_rewritten(memory_, provenance);
    else if (provenance.writers.producer != 0)
      entries.mark(provenance.writers.entry);
  };
  spills_.drop_dead(memory_);
  spills_.for_each([&](Spill& spill) { spill.value.for_each(look_at); });
  for (RegisterOrigins* const of_thread : registers)
    for (std::size_t i = 0; i < of_thread->where.size(); ++i)
      if (of_thread->where[i] == RegisterOrigins::kKept) look_at(of_thread->kept[i]);
  records_.mark(entries);
}

}  // namespace loopfold::ddg
