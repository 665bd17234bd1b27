// Objects: which heap block, global or mapping an address is in, so that accesses can be told as (block, offset).
//
// From what: the allocations and mappings of a run, in order, and the symbols of its modules. An *object* is what a
// person would call one thing of the program; it has one or more *blocks*, numbered from 0, and a place in memory is an
// object, a block and a byte offset in it. None of the three depends on where the address space put things: objects get
// their ids in the order in which find() or frame() first meets them, blocks are numbered in the order of allocation.
//
// - Heap: one object per allocation site with its call stack: all blocks whose call stacks are equal, numbered in the
//   order of allocation. It is named by the innermost function of the main program on the stack ("malloc in
//   alloc_rows"), or by the innermost known one.
// - realloc: the result is a new block of realloc's own call stack, unless the block was one of that same call stack
//   before: then it stays the block that it was, wherever it is now and however long. A vector that grows in one place
//   of the program is one block; one that was allocated elsewhere becomes a block of the place that grows it, once.
// - Mappings: like heap blocks ("mmap in f"); what mremap moves stays the block that it was. What the break grew by is
//   one block of one object, "brk". Mappings of files are not told from others. A mapping is what is left where no heap
//   block and no global is: the allocators get their memory from mappings. Heap blocks stay when a mapping under them
//   goes: realloc of a large block remaps it first. What mremap adds without moving anything looks like a mapping of
//   its own, and is one.
// - Globals: one object with one block per data symbol; where no symbol is, one per section of a module (".bss of
//   prog"). Modules do not say when they were loaded: what is mapped later where an unloaded library was is still named
//   after the library.
// - Stack: one object per function, "frame of f". The caller knows what is stack; find() does not.
// - Thread-local variables and the stacks of threads are in mappings of the C library's, or unknown.
//
// Exactness: exact with respect to what the trace says. Where several live blocks would overlap (an allocator that was
// not seen), the latest wins and the others are gone.
//
// Cost: a few nanoseconds where find() found something before; otherwise a search in sorted chunks (address_map.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ddg/address_map.h"
#include "ddg/graph.h"
#include "symbols/symbolizer.h"
#include "trace/types.h"

namespace loopfold::ddg {

class Objects {
 public:
  /// All three must outlive this; `stacks` may still grow.
  Objects(symbols::Symbolizer& symbolizer, const std::vector<trace::CallStack>& stacks,
          const std::vector<trace::Module>& modules);

  struct Place {
    ObjectId object = kUnknownObject;
    std::int64_t block = 0;
    std::int64_t offset = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };

  /// Where an address is now. If nothing is known to be there: the unknown object, block 0, the address as offset.
  [[gnu::always_inline]] Place find(std::uint64_t address) {
    const std::uint64_t line = address >> kLineBits;
    const Hint& hint = hints_[line & (kHints - 1)];
    const Block& block = blocks_[hint.block];
    if (hint.generation == generation_ && (hint.line == line || hint.line == kAnyLine) && address >= block.start &&
        address <= block.last) [[likely]] {
      return {block.object, block.ordinal, static_cast<std::int64_t>(address - block.base)};
    }
    return find_slowly(address);
  }

  /// Addresses around this one that are in the same block: the first and the last of some, this one among them.
  struct Extent {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  Extent extent(std::uint64_t address);

  void allocation(const trace::Allocation& allocation);
  void mapping(const trace::Mapping& mapping);

  /// The object of the frames of a function. Its blocks are numbered by the caller.
  ObjectId frame(std::uint64_t function_address);
  /// A frame was seen to have this many bytes; the largest counts.
  void frame_size(ObjectId object, std::uint64_t bytes);
  /// Block `ordinal` of the frames of a function exists, and all before it.
  void frame_block(ObjectId object, std::int64_t ordinal);

  /// All objects that were met, by id. The last call.
  std::vector<Object> finish();

 private:
  using Source = std::uint32_t;  // index into sources_
  using BlockIndex = std::uint32_t;

  static constexpr unsigned kLineBits = 6;
  static constexpr std::size_t kHints = 2048;
  static constexpr std::uint64_t kAnyLine = ~std::uint64_t{0};
  static constexpr ObjectId kNotMet = 0xffffffff;
  static constexpr BlockIndex kUnknownBlock = 0;  // covers all addresses
  static constexpr std::uint8_t kMappingFamily = 100;
  static constexpr std::uint8_t kBreakFamily = 101;

  /// What may become an object.
  struct Origin {
    Object::Kind kind = Object::Kind::kHeap;
    ObjectId id = kNotMet;
    std::uint8_t family = 0;  // heap: Allocation::Function, or one of the two above
    trace::StackId stack = trace::kNoStack;
    const symbols::DataSymbol* symbol = nullptr;    // global
    const symbols::DataSection* section = nullptr;  // global without a symbol
    std::uint64_t function = 0;                     // stack
    std::uint64_t size = 0;                         // of the largest block
    std::uint64_t blocks = 0;
  };

  /// A range of addresses in one block of an object. A dead one has none: start > last.
  struct Block {
    std::uint64_t start = 1;
    std::uint64_t last = 0;
    std::uint64_t base = 0;  // the address of offset 0
    std::int64_t ordinal = 0;
    ObjectId object = kNotMet;
    Source source = 0;
  };

  /// Where an address was found.
  struct Hint {
    std::uint64_t line = kAnyLine;  // holds for the addresses of this line, or for all of the block
    BlockIndex block = kUnknownBlock;
    std::uint32_t generation = 0;
  };

  /// What was found, and for which addresses of the block it holds.
  struct Found {
    enum class Reach : std::uint8_t { kAddress, kLine, kBlock };
    BlockIndex block = kUnknownBlock;
    Reach reach = Reach::kAddress;
  };

  Place find_slowly(std::uint64_t address);
  Found find_block(std::uint64_t address);
  bool is_heap(const Block& block) const;
  bool heap_touches(std::uint64_t start, std::uint64_t last) const;
  BlockIndex global_at(const symbols::DataPlace& place);
  BlockIndex mapping_at(std::uint64_t address) const;
  bool mapping_touches(std::uint64_t start, std::uint64_t last) const;

  Source heap_source(std::uint8_t family, trace::StackId stack);
  BlockIndex new_block(const Block& block);
  void drop_block(BlockIndex block);
  void add_heap_block(std::uint64_t address, std::uint64_t size, Source source, std::int64_t ordinal);
  void drop_heap_blocks(std::uint64_t start, std::uint64_t last);
  void drop_hints(std::uint64_t start, std::uint64_t last);
  void add_mapping(std::uint64_t address, std::uint64_t size, const Block& like);
  void add_new_mapping(std::uint64_t address, std::uint64_t size, Source source);
  void drop_mappings(std::uint64_t start, std::uint64_t last);
  void grow_break(std::uint64_t address, std::uint64_t size);
  void remap(const trace::Mapping& mapping);

  Object describe(const Origin& origin);
  void name_heap(const Origin& origin, Object& object);
  bool in_main_program(std::uint64_t address) const;

  symbols::Symbolizer& symbolizer_;
  const std::vector<trace::CallStack>& stacks_;
  const std::vector<trace::Module>& modules_;

  std::vector<Origin> sources_;
  std::vector<Source> met_;  // by object id
  std::map<std::pair<std::uint8_t, trace::CallStack>, Source> heap_by_stack_;
  std::unordered_map<std::uint64_t, Source> heap_by_id_;  // by family and stack id
  std::unordered_map<const void*, Source> globals_;       // by symbol or section
  std::unordered_map<std::uint64_t, Source> frames_;      // by address of the function

  std::vector<Block> blocks_;
  std::vector<BlockIndex> free_blocks_;
  AddressMap heap_;                                    // blocks by start, disjoint
  std::map<std::uint64_t, BlockIndex> mappings_;       // by start, disjoint
  std::map<std::uint64_t, BlockIndex> global_blocks_;  // those that were met, by start, disjoint

  std::vector<Hint> hints_;  // by line
  std::uint32_t generation_ = 1;
};

}  // namespace loopfold::ddg
