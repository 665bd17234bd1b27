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
      point_(placed.prefix),
      counts_(View::at(layout_->dimensions)),
      functions_(View::at(layout_->dimensions)),
      labels_(View::at(layout_->outputs)) {
  point_.resize(View::at(layout_->dimensions));
  enter(level_);
  restart_inside(level_);
}

/// Starts the row along dimension q: its count is 0.
void Walker::enter(int q) {
  const auto at = View::at(q);
  const std::int64_t* outside = q == level_ ? view().values() : functions_[at - 1].data();
  functions_[at].assign(outside, outside + layout_->functions(q));
  counts_[at] = 0;
  point_[at] = outside[layout_->start(q)];
}

void Walker::restart_inside(int q) {
  for (int p = q + 1; p < layout_->dimensions; ++p) enter(p);
}

const std::int64_t* Walker::labels() {
  const std::vector<std::int64_t>& innermost = functions_.back();
  for (std::size_t o = 0; o < labels_.size(); ++o) {
    const bool modular = block_->modulus(static_cast<int>(o)) != 0;
    labels_[o] = modular ? in_window((*block_->windows)[o], innermost[o]) : innermost[o];
  }
  return labels_.data();
}

bool Walker::next() {
  for (int q = layout_->dimensions - 1; q >= level_; --q) {
    const auto at = View::at(q);
    const std::int64_t* outside = q == level_ ? view().values() : functions_[at - 1].data();
    if (counts_[at] == outside[layout_->extent(q)]) continue;
    ++counts_[at];
    point_[at] += view().stride(q);
    for (int f = 0; f < layout_->functions(q); ++f) {
      const Wide value = static_cast<Wide>(functions_[at][View::at(f)]) + view().step(q, f);
      const bool modular = f < layout_->outputs && block_->modulus(f) != 0;
      functions_[at][View::at(f)] =
          modular ? in_window((*block_->windows)[View::at(f)], value) : static_cast<std::int64_t>(value);
    }
    restart_inside(q);
    return true;
  }
  return false;
}

void walk(std::vector<Walker> walkers, const Visit& each) {
  const auto later = [](const Walker* a, const Walker* b) { return a->point() > b->point(); };
  std::vector<Walker*> heap;
  for (Walker& walker : walkers) heap.push_back(&walker);
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Walker& first = *heap.back();
    const Walker* second = heap.size() > 1 ? heap.front() : nullptr;
    bool more = true;
    do {
      if (!each(first.point().data(), first.labels())) return;
      more = first.next();
    } while (more && (second == nullptr || first.point() < second->point()));
    if (more)
      std::push_heap(heap.begin(), heap.end(), later);
    else
      heap.pop_back();
  }
}

}  // namespace loopfold::fold::adaptive
