#include "structure/rounds.h"

#include <algorithm>

namespace loopfold::structure {

namespace {

using Kind = trace::RunColumn::Kind;

constexpr std::uint32_t kMostFailures = 8;

bool same_column(const trace::RunColumn& a, const trace::RunColumn& b) {
  return a.kind == b.kind && a.control == b.control && a.block == b.block && a.slot == b.slot && a.stride == b.stride;
}

bool same_path(const RoundItem::Path& a, const trace::RunPath& b) {
  return std::equal(a.exits.begin(), a.exits.end(), b.exits.begin(), b.exits.end()) &&
         std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end());
}

}  // namespace

bool Round::may_end(const trace::Run& run) {
  return run.iterations >= kShortestRun && run.sides.empty() && run.sequence.empty() &&
         std::none_of(run.columns.begin(), run.columns.end(),
                      [](const trace::RunColumn& column) { return column.kind == Kind::kIrregular; });
}

void Round::add(const trace::Run& run) {
  thread_ = run.thread;
  RoundItem& item = items_.emplace_back();
  item.iterations = run.iterations;
  item.events = run.events;
  item.instructions = run.instructions;
  for (const trace::RunPath& path : run.paths)
    item.paths.push_back({{path.exits.begin(), path.exits.end()},
                          {path.columns.begin(), path.columns.end()},
                          path.slots,
                          path.instructions});
  item.columns.assign(run.columns.begin(), run.columns.end());
  for (trace::RunColumn& column : item.columns) column.values = {};
  item.first = now_.size();
  item.count = run.literal() ? run.slots.size() : run.columns.size();
  now_.resize(item.first + item.count);
  take(items_.size() - 1, run);
}

bool Round::is_item(std::size_t at, const trace::Run& run) const {
  const RoundItem& item = items_[at];
  if (run.thread != thread_ || run.iterations != item.iterations || run.paths.size() != item.paths.size() ||
      !run.sides.empty() || !run.sequence.empty())
    return false;
  if (!std::equal(item.paths.begin(), item.paths.end(), run.paths.begin(), same_path)) return false;
  if (item.literal()) return run.slots.size() == item.count;
  return std::equal(item.columns.begin(), item.columns.end(), run.columns.begin(), run.columns.end(), same_column);
}

void Round::take(std::size_t at, const trace::Run& run) {
  const RoundItem& item = items_[at];
  std::uint64_t* const into = now_.data() + item.first;
  if (item.literal())
    std::copy(run.slots.begin(), run.slots.end(), into);
  else
    for (std::size_t i = 0; i < item.count; ++i) into[i] = run.columns[i].start;
}

void Round::find_growth() {
  growth_.resize(now_.size());
  for (std::size_t i = 0; i < now_.size(); ++i) growth_[i] = now_[i] - before_[i];
}

bool Round::is_predicted(std::size_t at, const trace::Run& run, std::uint64_t rounds) const {
  if (!is_item(at, run)) return false;
  const RoundItem& item = items_[at];
  const std::uint64_t* const now = now_.data() + item.first;
  const std::uint64_t* const growth = growth_.data() + item.first;
  std::uint64_t different = 0;
  if (item.literal())
    for (std::size_t i = 0; i < item.count; ++i) different |= run.slots[i] ^ (now[i] + growth[i] * rounds);
  else
    for (std::size_t i = 0; i < item.count; ++i) different |= run.columns[i].start ^ (now[i] + growth[i] * rounds);
  return different == 0;
}

const trace::Run& Round::predicted(std::size_t at, std::uint64_t rounds) {
  const RoundItem& item = items_[at];
  run_ = {};
  run_.thread = thread_;
  run_.events = item.events;
  run_.instructions = item.instructions;
  run_.iterations = item.iterations;
  paths_.clear();
  for (const RoundItem::Path& path : item.paths)
    paths_.push_back({path.exits, path.columns, path.slots, path.instructions});
  run_.paths = paths_;
  columns_ = item.columns;
  slots_.resize(item.literal() ? item.count : 0);
  for (std::size_t i = 0; i < item.count; ++i) {
    const std::uint64_t number = now_[item.first + i] + growth_[item.first + i] * rounds;
    if (item.literal())
      slots_[i] = number;
    else
      columns_[i].start = number;
  }
  run_.columns = columns_;
  run_.slots = slots_;
  return run_;
}

void Round::move(std::uint64_t rounds) {
  for (std::size_t i = 0; i < now_.size(); ++i) now_[i] += growth_[i] * rounds;
}

void Rounds::Known::fail() {
  failures = std::min(failures + 1, kMostFailures);
  skip = 1u << failures;
}

Rounds::Known& Rounds::of(const trace::Run& run) {
  const trace::ExitId exit = run.paths[0].exits[0];
  Known& known = known_[exit % kMost];
  if (known.exit != exit) {
    known = {};
    known.exit = exit;
  }
  return known;
}

}  // namespace loopfold::structure
