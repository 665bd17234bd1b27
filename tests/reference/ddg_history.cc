#include "ddg_history.h"

#include <algorithm>
#include <utility>

namespace loopfold::reference {

std::uint32_t History::add(std::uint32_t statement, std::vector<std::int64_t> vector, std::uint64_t stack,
                           const std::vector<std::uint64_t>& entries) {
  const auto number = static_cast<std::uint32_t>(instances_.size());
  Instance instance{statement, std::move(vector), stack, {}};
  for (const std::uint64_t entry : entries)
    instance.entered.push_back(entered_.try_emplace(entry, number).first->second);
  instances_.push_back(std::move(instance));
  return number;
}

bool History::same_instance(std::uint32_t a, std::uint32_t b) const {
  return a == b || (instances_[a].statement == instances_[b].statement && instances_[a].vector == instances_[b].vector);
}

bool History::same(const Producer& a, const Producer& b) const {
  if (!a.known() || !b.known()) return a.known() == b.known();
  return a.instruction == b.instruction && same_instance(a.instance, b.instance);
}

std::size_t History::shared(std::uint32_t statement, std::uint32_t other) const {
  const std::vector<structure::ContextId>& x = graph_.statements[statement].counting;
  const std::vector<structure::ContextId>& y = graph_.statements[other].counting;
  return static_cast<std::size_t>(std::mismatch(x.begin(), x.end(), y.begin(), y.end()).first - x.begin());
}

std::size_t History::level(std::uint32_t a, std::uint32_t b) const {
  const std::size_t shared = this->shared(instances_[a].statement, instances_[b].statement);
  std::size_t level = 0;
  while (level < shared && instances_[a].vector[level] == instances_[b].vector[level]) ++level;
  return level;
}

bool History::carried_at(std::uint32_t a, std::uint32_t b, std::size_t level) const {
  return this->level(a, b) == level && level < shared(instances_[a].statement, instances_[b].statement);
}

bool History::older_than_entry(std::uint32_t a, std::uint32_t b, std::size_t coordinate) const {
  const bool in_the_loop = shared(instances_[a].statement, instances_[b].statement) > coordinate;
  return !in_the_loop || level(a, b) < coordinate;
}

bool History::late(std::uint32_t a, std::uint32_t b, std::size_t coordinate) const {
  return instances_[a].stack != instances_[b].stack && a >= instances_[b].entered[coordinate];
}

}  // namespace loopfold::reference
