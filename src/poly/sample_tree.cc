#include "poly/sample_tree.h"

#include <algorithm>
#include <utility>

namespace loopfold::poly {

namespace {

/// Many pieces, or much ado to find them, for so many samples. Neither becomes less.
bool is_irregular(const reconstruct::Summary& summary, const reconstruct::Options& options, std::uint64_t samples) {
  return summary.pieces > 6 + samples / 128 || summary.tries > options.max_tries + samples / 8;
}

}  // namespace

SampleTree::Node* SampleTree::find(const Node& from, std::span<const std::uint64_t> batch, bool ends) const {
  for (const std::unique_ptr<Node>& next : from.next)
    if (next->ended == ends && std::equal(batch.begin(), batch.end(), next->batch.begin(), next->batch.end()))
      return next.get();
  return nullptr;
}

/// The state of the search at the node, which is the caller's then.
reconstruct::Reconstructor SampleTree::take_engine(Node& node) const {
  if (node.engine) {
    reconstruct::Reconstructor engine = std::move(*node.engine);
    node.engine.reset();
    return engine;
  }
  std::vector<const Node*> way;
  for (const Node* at = &node; at != nullptr; at = at->before) way.push_back(at);
  reconstruct::Reconstructor engine(options_);
  for (; !way.empty(); way.pop_back())
    for (const std::uint64_t sample : way.back()->batch) engine.add(sample);
  return engine;
}

/// Nothing is searched for what is doomed.
std::unique_ptr<SampleTree::Node> SampleTree::make(Node& from, std::span<const std::uint64_t> batch, bool ends) {
  auto node = std::make_unique<Node>();
  node->before = &from;
  node->samples = from.samples + batch.size();
  node->ended = ends;
  node->doomed = node->irregular = from.doomed;
  if (node->doomed) return node;
  reconstruct::Reconstructor engine = take_engine(from);
  std::uint64_t samples = from.samples;
  for (const std::uint64_t sample : batch) {
    engine.add(sample);
    node->doomed = is_irregular(engine.summary(), options_, (++samples / kBatch + 1) * kBatch);
    if (node->doomed) break;
  }
  node->irregular = is_irregular(engine.summary(), options_, node->samples);
  if (node->irregular) return node;
  if (ends) {
    engine.finish();
    node->pieces = engine.pieces();
  } else {
    node->engine.emplace(std::move(engine));
  }
  return node;
}

const SampleTree::Node& SampleTree::Path::add(SampleTree& tree, std::span<const std::uint64_t> batch, bool ends) {
  if (own_) {
    own_ = tree.make(*own_, batch, ends);
    own_->before = nullptr;
    return *own_;
  }
  Node& from = at_ != nullptr ? *at_ : tree.root_;
  if (Node* const known = tree.find(from, batch, ends)) {
    at_ = known;
    return *known;
  }
  std::unique_ptr<Node> made = tree.make(from, batch, ends);
  if (tree.nodes_ >= tree.most_nodes_) {
    own_ = std::move(made);
    return *own_;
  }
  ++tree.nodes_;
  made->batch.assign(batch.begin(), batch.end());
  at_ = from.next.emplace_back(std::move(made)).get();
  return *at_;
}

void SampleTree::Path::restart() {
  if (at_ != nullptr) at_->engine.reset();
  at_ = nullptr;
  own_.reset();
}

}  // namespace loopfold::poly
