#include "fold/adaptive_walk.h"

#include <algorithm>

namespace loopfold::fold::adaptive {

namespace {

/// The label that `value` stands for: itself, or what is congruent to it in the window.
std::int64_t in_window(const Window& window, Wide value) {
  const Wide offset = (value - window.low) % window.modulus;
  return static_cast<std::int64_t>(window.low + (offset < 0 ? offset + window.modulus : offset));
}

}  // namespace

Walker::Walker(const Placed& placed)
    : layout_(&placed.view.layout),
      block_(&placed.view.block),
      level_(placed.view.level),
      innermost_(2 * layout_->dimensions + layout_->outputs + functions_inside(layout_->dimensions - 1)),
      numbers_(View::at(2 * layout_->dimensions + layout_->outputs + functions_inside(level_ - 1))) {
  std::copy(placed.prefix.begin(), placed.prefix.end(), numbers_.begin());
  enter(level_);
  restart_inside(level_);
}

/// Starts the row along dimension q: its count is 0.
void Walker::enter(int q) {
  const std::int64_t* const from = outside(q);
  std::copy_n(from, layout_->functions(q), functions(q));
  count(q) = 0;
  numbers_[View::at(q)] = from[layout_->start(q)];
}

void Walker::restart_inside(int q) {
  for (int p = q + 1; p < layout_->dimensions; ++p) enter(p);
}

const std::int64_t* Walker::labels_in_windows() {
  const std::int64_t* const innermost = functions(layout_->dimensions - 1);
  std::int64_t* const labels = numbers_.data() + 2 * layout_->dimensions;
  for (int o = 0; o < layout_->outputs; ++o)
    labels[o] = block_->modulus(o) != 0 ? in_window((*block_->windows)[View::at(o)], innermost[o]) : innermost[o];
  return labels;
}

Run Walker::row() {
  const int inner = layout_->dimensions - 1;
  const std::int64_t* const steps = block_->words.get() + layout_->part(inner) + 1;
  return {point(), functions(inner), steps, static_cast<std::uint64_t>(outside(inner)[layout_->extent(inner)]) + 1,
          view().stride(inner)};
}

/// Along this dimension, or one outside of it.
bool Walker::next(int innermost) {
  for (int q = innermost; q >= level_; --q) {
    if (count(q) == outside(q)[layout_->extent(q)]) continue;
    ++count(q);
    numbers_[View::at(q)] += view().stride(q);
    std::int64_t* const own = functions(q);
    const std::int64_t* const steps = block_->words.get() + layout_->part(q) + 1;  // known: there is a second iteration
    const int all = layout_->functions(q);
    if (!block_->windows) {
      for (int f = 0; f < all; ++f) own[f] = wrapping_add(own[f], steps[f]);
      restart_inside(q);
      return true;
    }
    for (int f = 0; f < all; ++f) {
      const bool modular = f < layout_->outputs && block_->modulus(f) != 0;
      own[f] = modular ? in_window((*block_->windows)[View::at(f)], static_cast<Wide>(own[f]) + steps[f])
                       : wrapping_add(own[f], steps[f]);
    }
    restart_inside(q);
    return true;
  }
  return false;
}

void walk(std::vector<Walker>& walkers, const Visit& each) {
  const auto later = [](const Walker* a, const Walker* b) { return b->before(*a); };
  std::vector<Walker*> heap;
  heap.reserve(walkers.size());
  for (Walker& walker : walkers) heap.push_back(&walker);
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Walker& first = *heap.back();
    const Walker* second = heap.size() > 1 ? heap.front() : nullptr;
    bool more = true;
    do {
      if (!each(first.point(), first.labels())) return;
      more = first.next();
    } while (more && (second == nullptr || first.before(*second)));
    if (more)
      std::push_heap(heap.begin(), heap.end(), later);
    else
      heap.pop_back();
  }
}

}  // namespace loopfold::fold::adaptive
