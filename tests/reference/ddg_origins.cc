#include "ddg_origins.h"

#include <algorithm>

namespace loopfold::reference {

namespace {

__extension__ using Wide = __int128;

}  // namespace

void Origins::use(const Producer& reader, std::uint8_t operand, const std::vector<Byte>& bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const Written& here = bytes[i].written;
    const bool goes_on = i != 0 && history_.same(here.writer, bytes[i - 1].written.writer) &&
                         history_.same(here.origin, bytes[i - 1].written.origin);
    if (!goes_on && here.writer.known()) chunk(reader, operand, bytes[i]);
  }
}

void Origins::chunk(const Producer& reader, std::uint8_t operand, const Byte& byte) {
  const Written& here = byte.written;
  const std::uint32_t to = history_[reader.instance].statement;
  const Lane lane{to, reader.instruction, operand, byte.lane};
  Last& last = last_[{history_[reader.instance].stack, lane}];
  if (is_recorded(reader, here)) {
    OriginKey key{to, reader.instruction, operand, byte.lane};
    key.by = history_[here.writer.instance].statement;
    key.by_instruction = here.writer.instruction;
    if (here.origin.known()) {
      key.from = history_[here.origin.instance].statement;
      key.from_instruction = here.origin.instruction;
      key.load = here.load != nullptr;
    }
    key.local = history_.same_instance(here.writer.instance, reader.instance);
    Origin& record = graph_.origins[key];
    count(record, reader, here);
    if (last.reader != kNobody && !history_.same(last.origin, here.origin))
      count_turns(record, reader, here.origin, last);
  }
  bool& even = even_.try_emplace(lane, true).first->second;
  even = goes_on_evenly(last, reader, here) && even;
  last.origin = here.origin;
  last.reader = reader.instance;
}

void Origins::finish() {
  for (auto& [key, record] : graph_.origins)
    record.even = even_.at({key.to, key.to_instruction, key.operand, key.lane});
}

/// Was the value loaded, at an address on one line with those of the last two times in this entry of the innermost
/// loop?
bool Origins::goes_on_evenly(Last& last, const Producer& reader, const Written& chunk) const {
  const std::vector<std::int64_t>& now = history_[reader.instance].vector;
  const bool one_entry =
      last.reader != kNobody && std::equal(now.begin(), now.end() - 1, history_[last.reader].vector.begin());
  if (!one_entry) last.addresses.clear();
  if (chunk.load == nullptr) return false;
  last.addresses.emplace_back(now.back(), chunk.load->address);
  if (last.addresses.size() < 3) return true;
  const auto [p, at_p] = last.addresses[0];
  const auto [q, at_q] = last.addresses[1];
  const auto [r, at_r] = last.addresses[2];
  last.addresses.erase(last.addresses.begin());
  const auto growth = [](std::uint64_t from, std::uint64_t to) { return Wide{static_cast<std::int64_t>(to - from)}; };
  return growth(at_q, at_r) * (q - p) == growth(at_p, at_q) * (r - q);
}

/// Does the chunk say more than that it depends on its writer?
bool Origins::is_recorded(const Producer& reader, const Written& chunk) const {
  if (!chunk.origin.known()) return chunk.copy;
  const std::uint32_t origin = chunk.origin.instance;
  if (history_.same(chunk.origin, chunk.writer))
    return chunk.load != nullptr &&
           history_.carried_at(origin, reader.instance, history_.level(origin, reader.instance));
  return !history_.same_instance(origin, reader.instance);
}

void Origins::count(Origin& record, const Producer& reader, const Written& chunk) const {
  ++record.count;
  if (!chunk.origin.known()) return;
  const Instance& from = history_[chunk.origin.instance];
  const Instance& to = history_[reader.instance];
  const std::size_t shared = history_.shared(from.statement, to.statement);
  const std::size_t level = history_.level(chunk.origin.instance, reader.instance);
  record.carried.resize(shared + 1);
  record.distances.resize(shared);
  ++record.carried[level];
  if (level < shared) record.distances[level].insert(to.vector[level] - from.vector[level]);
  if (chunk.load != nullptr) count_load(record, reader, *chunk.load, level);
}

void Origins::count_load(Origin& record, const Producer& reader, const Loaded& load, std::size_t level) const {
  record.rewritten.resize(record.carried.size());
  record.reread.resize(record.carried.size());
  bool rewritten = false;
  bool carried = false;
  for (std::size_t i = 0; i < load.writers.size(); ++i) {
    const Producer& then = load.writers[i];
    if (!history_.same(memory_.read(load.address + i).writer, then)) rewritten = true;
    if (then.known() && history_.carried_at(then.instance, reader.instance, level)) carried = true;
  }
  const bool level_carries = level + 1 < record.carried.size();
  if (rewritten) ++record.rewritten[level];
  if (!rewritten && carried && level_carries) ++record.reread[level];
}

/// By coordinate: both uses are in one entry of its loop, and both origins are older.
void Origins::count_turns(Origin& record, const Producer& reader, const Producer& origin, const Last& last) const {
  const std::vector<std::int64_t>& now = history_[reader.instance].vector;
  const std::vector<std::int64_t>& before = history_[last.reader].vector;
  const auto older = [&](const Producer& producer, std::size_t coordinate) {
    return !producer.known() || history_.older_than_entry(producer.instance, reader.instance, coordinate);
  };
  record.turns.resize(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool one_entry = std::equal(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(i), before.begin());
    if (one_entry && older(origin, i) && older(last.origin, i)) ++record.turns[i];
  }
}

}  // namespace loopfold::reference
