// Keeps the live blocks of a run and the names of what they belong to; objects.h says what an object is.
//
// Three layers are searched: heap blocks, then globals, then mappings. Direct-mapped by line of 64 bytes, *hints*
// remember what was found. A hint holds for all addresses of its block if nothing of the layers above lies anywhere in
// the block (always so for heap blocks), else for those of one line if nothing lies above in the line, else none is
// made. A new heap block takes back the hints that its addresses lead to: while it lives, no hint there can be about a
// block that it lies above. A dead block has no addresses, so that hints to it are harmless. A change of mappings takes
// back all hints.
//
// Names are made at the end, for the objects that were met.
#include "ddg/objects.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace loopfold::ddg {
namespace {

constexpr std::uint64_t kLineMask = 63;
constexpr std::uint64_t kFewLines = 64;

/// The last address of a range that is not empty, at most that of the address space.
std::uint64_t last_of(std::uint64_t address, std::uint64_t size) {
  return size - 1 <= ~address ? address + (size - 1) : ~std::uint64_t{0};
}

std::string_view allocator_name(std::uint8_t family) {
  using Function = trace::Allocation::Function;
  switch (static_cast<Function>(family)) {
    case Function::kMalloc:
      return "malloc";
    case Function::kCalloc:
      return "calloc";
    case Function::kRealloc:
      return "realloc";
    case Function::kMemalign:
      return "memalign";
    case Function::kNew:
      return "new";
    case Function::kFree:
    case Function::kDelete:
      break;
  }
  return "mmap";
}

/// Code of headers and sources that come with the compiler: a person looks for the caller.
bool is_library_code(std::string_view file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") || file.starts_with("/rustc/");
}

}  // namespace

Objects::Objects(symbols::Symbolizer& symbolizer, const std::vector<trace::CallStack>& stacks,
                 const std::vector<trace::Module>& modules)
    : symbolizer_(symbolizer), stacks_(stacks), modules_(modules), hints_(kHints) {
  sources_.resize(2);
  sources_[kEnvironmentObject] = {.kind = Object::Kind::kEnvironment, .id = kEnvironmentObject};
  sources_[kUnknownObject] = {.kind = Object::Kind::kUnknown, .id = kUnknownObject};
  met_ = {kEnvironmentObject, kUnknownObject};
  Block everywhere;
  everywhere.start = 0;
  everywhere.last = ~std::uint64_t{0};
  everywhere.object = kUnknownObject;
  everywhere.source = kUnknownObject;
  blocks_.push_back(everywhere);
}

Objects::Place Objects::find_slowly(std::uint64_t address) {
  const Found found = find_block(address);
  Block& block = blocks_[found.block];
  if (block.object == kNotMet) {
    Origin& origin = sources_[block.source];
    if (origin.id == kNotMet) {
      origin.id = static_cast<ObjectId>(met_.size());
      met_.push_back(block.source);
    }
    block.object = origin.id;
  }
  const std::uint64_t line = address >> kLineBits;
  if (found.reach == Found::Reach::kBlock) {
    hints_[line & (kHints - 1)] = {kAnyLine, found.block, generation_};
  } else if (found.reach == Found::Reach::kLine) {
    hints_[line & (kHints - 1)] = {line, found.block, generation_};
  }
  return {block.object, block.ordinal, static_cast<std::int64_t>(address - block.base)};
}

/// One of an allocator: nothing is inside it, while mappings and globals may have such blocks in them.
bool Objects::is_heap(const Block& block) const {
  const Origin& origin = sources_[block.source];
  return origin.kind == Object::Kind::kHeap && origin.family < kMappingFamily;
}

Objects::Extent Objects::extent(std::uint64_t address) {
  const Hint& hint = hints_[(address >> kLineBits) & (kHints - 1)];
  if (hint.generation == generation_ && hint.line == kAnyLine) {
    const Block& known = blocks_[hint.block];
    const bool in_block = address >= known.start && address <= known.last;
    if (in_block && (is_heap(known) || !heap_touches(known.start, known.last))) return {known.start, known.last};
  }
  const Found found = find_block(address);
  const Block& block = blocks_[found.block];
  switch (found.reach) {
    case Found::Reach::kBlock:
      return {block.start, block.last};
    case Found::Reach::kLine:
      return {std::max(block.start, address & ~kLineMask), std::min(block.last, address | kLineMask)};
    case Found::Reach::kAddress:
      break;
  }
  return {address, address};
}

Objects::Found Objects::find_block(std::uint64_t address) {
  using Reach = Found::Reach;
  const std::optional<AddressMap::Entry> heap = heap_.floor(address);
  if (heap && address <= blocks_[heap->value].last) return {heap->value, Reach::kBlock};
  const std::uint64_t line_start = address & ~kLineMask;
  const std::uint64_t line_last = address | kLineMask;
  const Reach free_line = heap_touches(line_start, line_last) ? Reach::kAddress : Reach::kLine;
  const symbols::DataPlace place = symbolizer_.data_place(address);
  if (place.section != nullptr) {
    const BlockIndex global = global_at(place);
    return {global, heap_touches(blocks_[global].start, blocks_[global].last) ? free_line : Reach::kBlock};
  }
  const auto no_global_in = [&](std::uint64_t start, std::uint64_t last) {
    return place.start <= start && last <= place.last;
  };
  const Reach reach = no_global_in(line_start, line_last) ? free_line : Reach::kAddress;
  const BlockIndex mapping = mapping_at(address);
  if (mapping == kUnknownBlock) return {mapping, mapping_touches(line_start, line_last) ? Reach::kAddress : reach};
  const Block& block = blocks_[mapping];
  const bool is_free = !heap_touches(block.start, block.last) && no_global_in(block.start, block.last);
  return {mapping, is_free ? Reach::kBlock : reach};
}

bool Objects::heap_touches(std::uint64_t start, std::uint64_t last) const {
  const std::optional<AddressMap::Entry> before = heap_.floor(last);
  return before && blocks_[before->value].last >= start;
}

Objects::BlockIndex Objects::global_at(const symbols::DataPlace& place) {
  const auto [block, is_new] = global_blocks_.try_emplace(place.start, kUnknownBlock);
  if (!is_new) return block->second;
  const void* key = place.symbol != nullptr ? static_cast<const void*>(place.symbol) : place.section;
  const auto [source, is_new_source] = globals_.try_emplace(key, static_cast<Source>(sources_.size()));
  if (is_new_source) {
    Origin origin;
    origin.kind = Object::Kind::kGlobal;
    origin.symbol = place.symbol;
    origin.section = place.section;
    origin.size = place.symbol != nullptr ? place.symbol->size : place.section->size;
    origin.blocks = 1;
    sources_.push_back(origin);
  }
  Block range;
  range.start = place.start;
  range.last = place.last;
  range.base = place.symbol != nullptr ? place.symbol->start : place.section->start;
  range.source = source->second;
  // Not in the place of a dead heap block, which hints may still be about.
  block->second = static_cast<BlockIndex>(blocks_.size());
  blocks_.push_back(range);
  return block->second;
}

Objects::BlockIndex Objects::mapping_at(std::uint64_t address) const {
  const auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin() || blocks_[std::prev(after)->second].last < address) return kUnknownBlock;
  return std::prev(after)->second;
}

bool Objects::mapping_touches(std::uint64_t start, std::uint64_t last) const {
  const auto after = mappings_.upper_bound(last);
  return after != mappings_.begin() && blocks_[std::prev(after)->second].last >= start;
}

// ---- Heap ----------------------------------------------------------------------------------------------------------

/// All call stacks that are equal are one source, whatever their ids. Without a stack, all calls of one function are.
Objects::Source Objects::heap_source(std::uint8_t family, trace::StackId stack) {
  const auto [known, is_new_id] = heap_by_id_.try_emplace(std::uint64_t{family} << 32 | stack, 0);
  if (!is_new_id) return known->second;
  const trace::CallStack frames = stack < stacks_.size() ? stacks_[stack] : trace::CallStack();
  const auto [source, is_new] = heap_by_stack_.try_emplace({family, frames}, static_cast<Source>(sources_.size()));
  if (is_new) {
    Origin origin;
    origin.family = family;
    origin.stack = stack < stacks_.size() ? stack : trace::kNoStack;
    sources_.push_back(origin);
  }
  known->second = source->second;
  return source->second;
}

Objects::BlockIndex Objects::new_block(const Block& block) {
  if (free_blocks_.empty()) {
    blocks_.push_back(block);
    return static_cast<BlockIndex>(blocks_.size() - 1);
  }
  const BlockIndex index = free_blocks_.back();
  free_blocks_.pop_back();
  blocks_[index] = block;
  return index;
}

void Objects::drop_block(BlockIndex block) {
  blocks_[block] = Block();
  free_blocks_.push_back(block);
}

void Objects::drop_hints(std::uint64_t start, std::uint64_t last) {
  if ((last - start) >> kLineBits > kFewLines) {
    ++generation_;
    return;
  }
  for (std::uint64_t line = start >> kLineBits; line <= last >> kLineBits; ++line) hints_[line & (kHints - 1)] = {};
}

/// Takes away the blocks that overlap a range.
void Objects::drop_heap_blocks(std::uint64_t start, std::uint64_t last) {
  while (const std::optional<AddressMap::Entry> before = heap_.floor(last)) {
    if (blocks_[before->value].last < start) return;
    heap_.erase(before->key);
    drop_block(before->value);
  }
}

/// A block of 0 bytes has its address for itself.
void Objects::add_heap_block(std::uint64_t address, std::uint64_t size, Source source, std::int64_t ordinal) {
  Block block;
  block.start = address;
  block.last = last_of(address, std::max<std::uint64_t>(size, 1));
  block.base = address;
  block.ordinal = ordinal;
  block.source = source;
  block.object = sources_[source].id;
  drop_heap_blocks(block.start, block.last);
  drop_hints(block.start, block.last);

  heap_.insert(address, new_block(block));
  sources_[source].size = std::max(sources_[source].size, size);
}

void Objects::allocation(const trace::Allocation& allocation) {
  using Function = trace::Allocation::Function;
  const bool frees = allocation.function == Function::kFree || allocation.function == Function::kDelete;
  const bool failed = allocation.address == 0 && allocation.size != 0;
  if (!frees && failed) return;
  std::optional<Block> old;
  if (allocation.old_address != 0) {
    const std::optional<AddressMap::Entry> found = heap_.floor(allocation.old_address);
    if (found && found->key == allocation.old_address) {
      old = blocks_[found->value];
      heap_.erase(found->key);
      drop_block(found->value);
    }
  }
  if (frees || allocation.address == 0) return;
  const Source source = heap_source(static_cast<std::uint8_t>(allocation.function), allocation.stack);
  const bool stays = allocation.function == Function::kRealloc && old && old->source == source;
  const std::int64_t ordinal = stays ? old->ordinal : static_cast<std::int64_t>(sources_[source].blocks++);
  add_heap_block(allocation.address, allocation.size, source, ordinal);
}

// ---- Mappings ------------------------------------------------------------------------------------------------------

/// Takes a range away from all mappings; what is left of them stays the same block.
void Objects::drop_mappings(std::uint64_t start, std::uint64_t last) {
  auto at = mappings_.upper_bound(start);
  if (at != mappings_.begin()) --at;
  while (at != mappings_.end() && at->first <= last) {
    const Block block = blocks_[at->second];
    if (block.last < start) {
      ++at;
      continue;
    }
    drop_block(at->second);
    at = mappings_.erase(at);
    if (block.start < start) add_mapping(block.start, start - block.start, block);
    if (block.last > last) add_mapping(last + 1, block.last - last, block);
  }
}

void Objects::add_mapping(std::uint64_t address, std::uint64_t size, const Block& like) {
  Block block = like;
  block.start = address;
  block.last = last_of(address, size);
  mappings_[address] = new_block(block);
}

void Objects::add_new_mapping(std::uint64_t address, std::uint64_t size, Source source) {
  Block block;
  block.base = address;
  block.source = source;
  block.object = sources_[source].id;
  block.ordinal = static_cast<std::int64_t>(sources_[source].blocks++);
  sources_[source].size = std::max(sources_[source].size, size);
  add_mapping(address, size, block);
}

/// The break only grows at its end: one block, unless something else was mapped between.
void Objects::grow_break(std::uint64_t address, std::uint64_t size) {
  const Source source = heap_source(kBreakFamily, trace::kNoStack);
  const auto after = mappings_.lower_bound(address);
  if (after != mappings_.begin()) {
    Block& before = blocks_[std::prev(after)->second];
    if (before.source == source && before.last + 1 == address) {
      before.last = last_of(address, size);
      sources_[source].size = std::max(sources_[source].size, before.last - before.base + 1);
      return;
    }
  }
  add_new_mapping(address, size, source);
}

void Objects::remap(const trace::Mapping& mapping) {
  std::optional<Block> old;
  const auto after = mappings_.upper_bound(mapping.old_address);
  if (after != mappings_.begin()) {
    const Block& before = blocks_[std::prev(after)->second];
    if (mapping.old_address <= before.last) old = before;
  }
  if (mapping.old_size != 0) drop_mappings(mapping.old_address, last_of(mapping.old_address, mapping.old_size));
  drop_mappings(mapping.address, last_of(mapping.address, mapping.size));
  if (!old) {
    add_new_mapping(mapping.address, mapping.size, heap_source(kMappingFamily, mapping.stack));
    return;
  }
  Block block = *old;
  block.base = mapping.address - (mapping.old_address - old->base);
  Origin& origin = sources_[block.source];
  origin.size = std::max(origin.size, mapping.address - block.base + mapping.size);
  add_mapping(mapping.address, mapping.size, block);
}

void Objects::mapping(const trace::Mapping& mapping) {
  using Operation = trace::Mapping::Operation;
  if (mapping.operation == Operation::kProtect || mapping.size == 0) return;
  ++generation_;
  const std::uint64_t last = last_of(mapping.address, mapping.size);
  switch (mapping.operation) {
    case Operation::kUnmap:
      drop_mappings(mapping.address, last);
      break;
    case Operation::kRemap:
      remap(mapping);
      break;
    case Operation::kBreak:
      drop_mappings(mapping.address, last);
      grow_break(mapping.address, mapping.size);
      break;
    case Operation::kMap:
      drop_mappings(mapping.address, last);
      add_new_mapping(mapping.address, mapping.size, heap_source(kMappingFamily, mapping.stack));
      break;
    case Operation::kProtect:
      break;
  }
}

// ---- Frames --------------------------------------------------------------------------------------------------------

ObjectId Objects::frame(std::uint64_t function_address) {
  const auto [found, is_new] = frames_.try_emplace(function_address, static_cast<Source>(sources_.size()));
  if (is_new) {
    Origin origin;
    origin.kind = Object::Kind::kStack;
    origin.id = static_cast<ObjectId>(met_.size());
    origin.function = function_address;
    met_.push_back(found->second);
    sources_.push_back(origin);
  }
  return sources_[found->second].id;
}

void Objects::frame_size(ObjectId object, std::uint64_t bytes) {
  Origin& origin = sources_[met_[object]];
  origin.size = std::max(origin.size, bytes);
}

void Objects::frame_block(ObjectId object, std::int64_t ordinal) {
  Origin& origin = sources_[met_[object]];
  origin.blocks = std::max(origin.blocks, static_cast<std::uint64_t>(ordinal) + 1);
}

// ---- Names ---------------------------------------------------------------------------------------------------------

bool Objects::in_main_program(std::uint64_t address) const {
  return std::any_of(modules_.begin(), modules_.end(), [&](const trace::Module& module) {
    return module.main_program && address >= module.start && address - module.start < module.size;
  });
}

/// By the innermost function of the main program that is not the compiler's own; if there is none, by the innermost of
/// the main program; if there is none either, by the innermost of all.
void Objects::name_heap(const Origin& origin, Object& object) {
  const std::string_view allocator = allocator_name(origin.family);
  object.name = origin.family == kBreakFamily ? "brk" : std::string(allocator);
  if (origin.stack == trace::kNoStack) return;
  int best = 0;
  for (const std::uint64_t return_address : stacks_[origin.stack]) {
    const std::uint64_t call = return_address - 1;
    const symbols::Location& location = symbolizer_.locate(call);
    const bool is_program = in_main_program(call);
    const auto consider = [&](std::string_view function, std::string_view file, int line) {
      const int rank = !is_program ? 1 : is_library_code(file) ? 2 : 3;
      if (rank <= best) return;
      best = rank;
      object.name = fmt::format("{} in {}", allocator, function.empty() ? symbolizer_.describe(call) : function);
      object.site = return_address;
      object.file = file;
      object.line = line;
    };
    for (const symbols::Frame& frame : location.frames) consider(frame.function, frame.file, frame.line);
    if (location.frames.empty()) consider(location.function, location.file, location.line);
  }
}

Object Objects::describe(const Origin& origin) {
  Object object;
  object.id = origin.id;
  object.kind = origin.kind;
  object.size = origin.size;
  object.blocks = origin.blocks;
  switch (origin.kind) {
    case Object::Kind::kHeap:
      name_heap(origin, object);
      break;
    case Object::Kind::kGlobal:
      if (origin.symbol == nullptr) {
        object.name = fmt::format("{} of {}", origin.section->name, origin.section->module);
        object.site = origin.section->start;
      } else {
        object.name = origin.symbol->name;
        object.type = origin.symbol->type;
        object.site = origin.symbol->start;
        object.file = origin.symbol->file;
        object.line = origin.symbol->line;
      }
      break;
    case Object::Kind::kStack: {
      const symbols::Location& location = symbolizer_.locate(origin.function);
      object.name = fmt::format("frame of {}",
                                location.function.empty() ? symbolizer_.describe(origin.function) : location.function);
      object.site = origin.function;
      object.file = location.file;
      object.line = location.line;
      break;
    }
    case Object::Kind::kEnvironment:
      object.name = "environment";
      break;
    case Object::Kind::kUnknown:
      object.name = "unknown";
      break;
  }
  return object;
}

std::vector<Object> Objects::finish() {
  std::vector<Object> objects;
  objects.reserve(met_.size());
  for (const Source source : met_) objects.push_back(describe(sources_[source]));
  return objects;
}

}  // namespace loopfold::ddg
