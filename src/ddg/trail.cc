#include "ddg/trail.h"

#include <algorithm>

namespace loopfold::ddg {

namespace {

constexpr std::uint32_t kLongest = 48;        // parts
constexpr std::size_t kMostLoads = 1024;      // of a trail
constexpr std::uint16_t kBehindAll = 0xffff;  // instructions of a part

template <class T>
std::uint64_t bytes_of(const std::vector<T>& all) {
  return all.capacity() * sizeof(T);
}

std::uint64_t bytes_of(const PartCode& code) {
  const OriginCode& origins = code.origins;
  return bytes_of(code.reads) + bytes_of(code.live_ins) + bytes_of(code.live_outs) + bytes_of(code.accesses) +
         bytes_of(code.values) + bytes_of(code.pointers) + bytes_of(origins.uses) + bytes_of(origins.pieces) +
         bytes_of(origins.loads) + bytes_of(origins.spills) + bytes_of(origins.several) + bytes_of(origins.outs);
}

/// Reads are told apart by who wrote what they read.
void sort_reads(const PartCode& code, TrailNode& into) {
  into.code.reads.clear();
  for (const RegisterRead& read : code.reads) {
    const std::span<const LiveIn> granules{code.live_ins.data() + read.first, read.count};
    const auto writer = [&](const LiveIn& in) { return into.writers[in.granule]; };
    const DefinitionId first = writer(granules.front());
    const bool one =
        std::all_of(granules.begin(), granules.end(), [&](const LiveIn& in) { return writer(in) == first; });
    if (one && first == 0) {
      into.code.reads.push_back(read);
    } else if (one) {
      into.made.push_back({read.in_row, first});
    } else {
      into.mixed.push_back({&read, static_cast<std::uint32_t>(into.mixed_granules.size())});
      for (const LiveIn& in : granules) into.mixed_granules.push_back({in.granule, in.lane, writer(in)});
    }
  }
}

/// Uses that need nothing but the instance are taken out.
void sort_uses(TrailNode& node) {
  std::erase_if(node.code.origins.uses, [&](const OriginCode::Use& use) {
    if (use.maker == kOutside || use.copier != kOutside || use.spilled) return false;
    node.made_uses.push_back({use.dense, use.lane, use.maker});
    return true;
  });
}

void list_found(TrailNode& node) {
  for (const RegisterRead& read : node.code.reads)
    node.found.push_back(
        {read.in_row, node.code.live_ins[read.first].granule, read.consecutive, read.count, read.behind, &read});
}

/// When its code is complete. `uses`: they are counted.
void list_accesses(TrailNode& node, const trace::Block& block, bool uses) {
  const PartCode& code = node.code;
  const auto before = [&](const MemoryAccess* access, TrailNode::Access& into) {
    const auto comes_first = [&](std::uint16_t instruction) {
      return access == nullptr || instruction <= access->instruction;
    };
    // As far as they go in this order: what is behind one that comes later waits for that one.
    into.uses = code.origins.uses.data();
    if (uses)
      while (into.uses != code.origins.uses.data() + code.origins.uses.size() && comes_first(into.uses->instruction))
        ++into.uses;
    while (into.pointers < code.pointers.size() && comes_first(code.values[code.pointers[into.pointers]].instruction))
      ++into.pointers;
  };
  for (const MemoryAccess& access : code.accesses) {
    TrailNode::Access& into = node.accesses.emplace_back();
    into.address = Formula(block, access.address);
    into.access = &access;
    into.size = access.size;
    into.in_row = access.in_row;
    into.definition = node.first_definition + access.instruction;
    into.instruction = access.instruction;
    into.store = access.store;
    into.guarded = access.guarded;
    into.spills = uses && access.spill != MemoryAccess::kNo;
    into.load = {into.definition, access.operand, access.size,
                 uses && access.load != MemoryAccess::kNo && code.origins.loads[access.load].kept, access.load};
    before(&access, into);
  }
  node.accesses.emplace_back().instruction = kBehindAll;
  before(nullptr, node.accesses.back());
  node.loads = uses ? code.origins.loads.size() : 0;
}

void list_outs(TrailNode& node) {
  PartCode& end = node.end;
  for (std::size_t i = 0; i < node.writers.size(); ++i) {
    if (node.writers[i] == 0) continue;
    const bool goes_on = i > 0 && !node.outs.empty() && node.writers[i] == node.writers[i - 1] &&
                         node.outs.back().granule + std::size_t{node.outs.back().count} == i;
    if (goes_on)
      ++node.outs.back().count;
    else
      node.outs.push_back({static_cast<Granule>(i), 1, node.writers[i]});
  }
  for (const TrailNode::Out& out : node.outs) {
    for (std::size_t i = 0; i <= out.count; ++i) end.parted.add(out.granule + i);
    for (std::size_t i = 1; i < out.count; ++i) end.joined.add(out.granule + i);
  }
  end.parted_words = end.parted.words();
}

}  // namespace

std::uint64_t TrailNode::bytes() const {
  return sizeof(*this) + bytes_of(code) + bytes_of(end) + bytes_of(made) + bytes_of(mixed) + bytes_of(mixed_granules) +
         bytes_of(values) + bytes_of(found) + bytes_of(accesses) + bytes_of(made_uses) + bytes_of(outs) +
         bytes_of(writers) + (origins ? sizeof(*origins) + writers.size() * sizeof(OriginCompiler::State) : 0);
}

std::unique_ptr<TrailNode> make_trail(TrailNode* parent, const PartCode& code, const trace::Block& block, SiteId site,
                                      DefinitionId first_definition, const std::vector<trace::InstructionFacts>& facts,
                                      const Granules& granules, bool origins) {
  for (const TrailNode* before = parent; before != nullptr; before = before->parent)
    if (before->site == site) return nullptr;
  if (parent != nullptr && (parent->last || parent->depth == kLongest)) return nullptr;
  auto node = std::make_unique<TrailNode>();
  node->parent = parent;
  node->depth = parent != nullptr ? parent->depth + 1 : 1;
  node->site = site;
  node->first_definition = first_definition;
  node->code = code;
  node->code.local.clear();
  node->needs_place = !code.accesses.empty() || code.moves_stack_pointer;
  if (parent != nullptr)
    node->writers = parent->writers;
  else
    node->writers.resize(granules.count());
  for (const IntegerValue& value : code.values) node->values.emplace_back(block, value.value);
  sort_reads(code, *node);
  list_found(*node);
  for (const LiveOut& out : code.live_outs)
    std::fill_n(node->writers.begin() + out.granule, out.count, first_definition + out.instruction);
  list_outs(*node);
  if (!origins) {
    list_accesses(*node, block, false);
    return node;
  }
  node->origins = parent != nullptr ? std::make_unique<OriginCompiler>(*parent->origins)
                                    : std::make_unique<OriginCompiler>(granules);
  node->origins->add(facts, node->code, first_definition);
  node->origins->finish(node->end.origins);
  for (OriginCode::Use& use : node->code.origins.uses)
    for (const OriginCode::Use& same : code.origins.uses)
      if (same.instruction == use.instruction && same.operand == use.operand) use.dense = same.dense;
  sort_uses(*node);
  list_accesses(*node, block, true);
  // What several sources make of a granule is only found out where it is written back.
  node->last = node->code.origins.loads.size() > kMostLoads ||
               std::any_of(node->end.origins.outs.begin(), node->end.origins.outs.end(),
                           [](const OriginCode::Out& out) { return out.source.kind == Source::Kind::kSeveral; });
  return node;
}

}  // namespace loopfold::ddg
