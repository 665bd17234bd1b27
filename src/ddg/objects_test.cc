// Objects against a list of live blocks that is searched from its end, and the names of those of a compiled program.
#include "ddg/objects.h"

#include <gtest/gtest.h>

#include <random>

#include "symbols/compile_for_test.h"

namespace loopfold::ddg {

/// For messages of failed tests.
inline void PrintTo(const Objects::Place& place, std::ostream* out) {
  *out << "{" << place.object << ", " << place.block << ", " << place.offset << "}";
}

namespace {

using Function = trace::Allocation::Function;
using Operation = trace::Mapping::Operation;
using Place = Objects::Place;

trace::Allocation allocate(Function function, std::uint64_t address, std::uint64_t size, trace::StackId stack,
                           std::uint64_t old = 0) {
  trace::Allocation allocation;
  allocation.function = function;
  allocation.address = address;
  allocation.size = size;
  allocation.stack = stack;
  allocation.old_address = old;
  return allocation;
}

trace::Allocation release(std::uint64_t address) { return allocate(Function::kFree, 0, 0, trace::kNoStack, address); }

trace::Mapping map(Operation operation, std::uint64_t address, std::uint64_t size,
                   trace::StackId stack = trace::kNoStack) {
  trace::Mapping mapping;
  mapping.operation = operation;
  mapping.address = address;
  mapping.size = size;
  mapping.stack = stack;
  return mapping;
}

trace::Mapping remap(std::uint64_t old_address, std::uint64_t old_size, std::uint64_t address, std::uint64_t size) {
  trace::Mapping mapping = map(Operation::kRemap, address, size);
  mapping.old_address = old_address;
  mapping.old_size = old_size;
  return mapping;
}

/// Without modules: everything but names.
class ObjectsTest : public testing::Test {
 protected:
  std::vector<trace::Module> modules_;
  std::vector<trace::CallStack> stacks_ = {{100, 200}, {110, 200}, {100, 200}, {120}};
  symbols::Symbolizer symbolizer_{modules_};
  Objects objects_{symbolizer_, stacks_, modules_};

  void add(Function function, std::uint64_t address, std::uint64_t size, trace::StackId stack, std::uint64_t old = 0) {
    objects_.allocation(allocate(function, address, size, stack, old));
  }
};

TEST_F(ObjectsTest, UnknownAddressesAreThemselves) {
  EXPECT_EQ(objects_.find(0x1234), (Place{kUnknownObject, 0, 0x1234}));
  EXPECT_EQ(objects_.find(~std::uint64_t{0}), (Place{kUnknownObject, 0, -1}));
  const std::vector<Object> objects = objects_.finish();
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[0].name, "environment");
  EXPECT_EQ(objects[0].kind, Object::Kind::kEnvironment);
  EXPECT_EQ(objects[1].name, "unknown");
  EXPECT_EQ(objects[1].kind, Object::Kind::kUnknown);
}

TEST_F(ObjectsTest, BlocksOfEqualStacksAreOneObject) {
  add(Function::kMalloc, 0x1000, 100, 0);
  add(Function::kMalloc, 0x2000, 50, 1);
  add(Function::kMalloc, 0x3000, 200, 2);
  EXPECT_EQ(objects_.find(0x2000), (Place{2, 0, 0})) << "ids in the order of finding";
  EXPECT_EQ(objects_.find(0x3010), (Place{3, 1, 0x10}));
  EXPECT_EQ(objects_.find(0x1063), (Place{3, 0, 0x63}));
  EXPECT_EQ(objects_.find(0x1064), (Place{kUnknownObject, 0, 0x1064}));
  EXPECT_EQ(objects_.find(0xfff), (Place{kUnknownObject, 0, 0xfff}));
  const std::vector<Object> objects = objects_.finish();
  ASSERT_EQ(objects.size(), 4U);
  EXPECT_EQ(objects[3].id, 3U);
  EXPECT_EQ(objects[3].size, 200U);
  EXPECT_EQ(objects[3].blocks, 2U);
  EXPECT_EQ(objects[3].kind, Object::Kind::kHeap);
}

TEST_F(ObjectsTest, WithoutAStackEachAllocatorIsOneObject) {
  add(Function::kMalloc, 0x1000, 100, trace::kNoStack);
  add(Function::kCalloc, 0x2000, 100, trace::kNoStack);
  add(Function::kMalloc, 0x3000, 100, 4711);
  EXPECT_EQ(objects_.find(0x1000), (Place{2, 0, 0}));
  EXPECT_EQ(objects_.find(0x2000), (Place{3, 0, 0}));
  EXPECT_EQ(objects_.find(0x3000), (Place{2, 1, 0}));
  EXPECT_EQ(objects_.finish()[3].name, "calloc");
}

TEST_F(ObjectsTest, FreedBlocksAreGoneAndAddressesAreUsedAgain) {
  add(Function::kMalloc, 0x1000, 100, 0);
  EXPECT_EQ(objects_.find(0x1010), (Place{2, 0, 16}));
  objects_.allocation(release(0x1000));
  EXPECT_EQ(objects_.find(0x1010), (Place{kUnknownObject, 0, 0x1010}));
  add(Function::kNew, 0x1008, 100, 1);
  EXPECT_EQ(objects_.find(0x1010), (Place{3, 0, 8}));
  objects_.allocation(release(0x1000));
  objects_.allocation(release(0));
  objects_.allocation(release(0x9999));
  EXPECT_EQ(objects_.find(0x1010), (Place{3, 0, 8})) << "frees of what is not there";
  add(Function::kMalloc, 0x1040, 100, 0);
  EXPECT_EQ(objects_.find(0x1040), (Place{2, 1, 0}));
  EXPECT_EQ(objects_.find(0x1010), (Place{kUnknownObject, 0, 0x1010})) << "it was overlapped, so it cannot live";
}

TEST_F(ObjectsTest, FailedAndEmptyAllocationsAreNormal) {
  add(Function::kMalloc, 0, 100, 0);
  add(Function::kMalloc, 0x1000, 0, 0);
  add(Function::kMalloc, 0x1010, 8, 0);
  EXPECT_EQ(objects_.find(0x1010), (Place{2, 1, 0}));
  objects_.allocation(release(0x1000));
  EXPECT_EQ(objects_.find(0x1000), (Place{kUnknownObject, 0, 0x1000}));
}

TEST_F(ObjectsTest, ReallocOfTheSameSiteIsTheSameBlock) {
  add(Function::kRealloc, 0x1000, 10, 0);
  EXPECT_EQ(objects_.find(0x1000), (Place{2, 0, 0}));
  add(Function::kRealloc, 0x2000, 20, 2, 0x1000);
  EXPECT_EQ(objects_.find(0x2010), (Place{2, 0, 16}));
  EXPECT_EQ(objects_.find(0x1000), (Place{kUnknownObject, 0, 0x1000}));
  add(Function::kRealloc, 0x2000, 40, 0, 0x2000);
  EXPECT_EQ(objects_.find(0x2020), (Place{2, 0, 32}));
  add(Function::kRealloc, 0x3000, 10, 0);
  EXPECT_EQ(objects_.find(0x3000), (Place{2, 1, 0})) << "another vector of the same place";
  const std::vector<Object> objects = objects_.finish();
  EXPECT_EQ(objects[2].blocks, 2U);
  EXPECT_EQ(objects[2].size, 40U);
}

TEST_F(ObjectsTest, ReallocOfAnotherSiteIsANewBlock) {
  add(Function::kMalloc, 0x1000, 10, 1);
  add(Function::kRealloc, 0x1000, 20, 0, 0x1000);
  add(Function::kRealloc, 0x1000, 40, 0, 0x1000);
  EXPECT_EQ(objects_.find(0x1020), (Place{2, 0, 32}));
  EXPECT_EQ(objects_.finish()[2].blocks, 1U);
}

TEST_F(ObjectsTest, ReallocThatFailsKeepsTheBlockAndToNothingFreesIt) {
  add(Function::kMalloc, 0x1000, 10, 1);
  add(Function::kRealloc, 0, 1 << 30, 0, 0x1000);
  EXPECT_EQ(objects_.find(0x1000), (Place{2, 0, 0}));
  add(Function::kRealloc, 0, 0, 0, 0x1000);
  EXPECT_EQ(objects_.find(0x1000), (Place{kUnknownObject, 0, 0x1000}));
}

TEST_F(ObjectsTest, MappingsAreUnderHeapBlocks) {
  objects_.mapping(map(Operation::kMap, 0x10000, 0x4000, 3));
  EXPECT_EQ(objects_.find(0x10010), (Place{2, 0, 0x10}));
  add(Function::kMalloc, 0x10020, 16, 0);
  EXPECT_EQ(objects_.find(0x10020), (Place{3, 0, 0}));
  EXPECT_EQ(objects_.find(0x10010), (Place{2, 0, 0x10})) << "the same line";
  EXPECT_EQ(objects_.find(0x1002f), (Place{3, 0, 15}));
  EXPECT_EQ(objects_.find(0x10030), (Place{2, 0, 0x30}));
  objects_.mapping(map(Operation::kUnmap, 0x10000, 0x1000));
  EXPECT_EQ(objects_.find(0x10010), (Place{kUnknownObject, 0, 0x10010}));
  EXPECT_EQ(objects_.find(0x11000), (Place{2, 0, 0x1000})) << "what is left keeps its offsets";
  EXPECT_EQ(objects_.find(0x10020), (Place{3, 0, 0}));
}

TEST_F(ObjectsTest, MappingsAreCutReplacedAndMoved) {
  objects_.mapping(map(Operation::kMap, 0x10000, 0x4000, 3));
  objects_.mapping(map(Operation::kMap, 0x11000, 0x1000, 3));
  EXPECT_EQ(objects_.find(0x11004), (Place{2, 1, 4}));
  EXPECT_EQ(objects_.find(0x12000), (Place{2, 0, 0x2000}));
  objects_.mapping(remap(0x12000, 0x2000, 0x20000, 0x8000));
  EXPECT_EQ(objects_.find(0x12000), (Place{kUnknownObject, 0, 0x12000}));
  EXPECT_EQ(objects_.find(0x20000), (Place{2, 0, 0x2000}));
  EXPECT_EQ(objects_.find(0x27fff), (Place{2, 0, 0x9fff}));
  EXPECT_EQ(objects_.find(0x10000), (Place{2, 0, 0}));
  objects_.mapping(map(Operation::kProtect, 0x10000, 0x1000));
  EXPECT_EQ(objects_.find(0x10000), (Place{2, 0, 0}));
  objects_.mapping(remap(0x50000, 0x1000, 0x60000, 0x1000));
  EXPECT_EQ(objects_.find(0x60000), (Place{3, 0, 0})) << "what was there before the recording";
}

TEST_F(ObjectsTest, TheBreakIsOneBlock) {
  objects_.mapping(map(Operation::kBreak, 0x5000, 0x1000));
  objects_.mapping(map(Operation::kBreak, 0x6000, 0x1000));
  EXPECT_EQ(objects_.find(0x6800), (Place{2, 0, 0x1800}));
  objects_.mapping(map(Operation::kUnmap, 0x5800, 0x1800));
  EXPECT_EQ(objects_.find(0x6800), (Place{kUnknownObject, 0, 0x6800}));
  objects_.mapping(map(Operation::kBreak, 0x5800, 0x2000));
  EXPECT_EQ(objects_.find(0x6800), (Place{2, 0, 0x1800}));
  const Object object = objects_.finish()[2];
  EXPECT_EQ(object.name, "brk");
  EXPECT_EQ(object.blocks, 1U);
  EXPECT_EQ(object.size, 0x2800U);
}

TEST_F(ObjectsTest, FramesAreCountedByTheCaller) {
  const ObjectId f = objects_.frame(0x400000);
  const ObjectId g = objects_.frame(0x400100);
  EXPECT_EQ(f, 2U);
  EXPECT_EQ(g, 3U);
  EXPECT_EQ(objects_.frame(0x400000), f);
  objects_.frame_size(f, 64);
  objects_.frame_size(f, 32);
  objects_.frame_block(f, 4);
  objects_.frame_block(f, 2);
  const std::vector<Object> objects = objects_.finish();
  EXPECT_EQ(objects[f].kind, Object::Kind::kStack);
  EXPECT_EQ(objects[f].size, 64U);
  EXPECT_EQ(objects[f].blocks, 5U);
  EXPECT_EQ(objects[f].site, 0x400000U);
  EXPECT_EQ(objects[f].name, "frame of 0x400000");
}

// ---- Random histories ----------------------------------------------------------------------------------------------

/// All that ever happened, newest last; asked from the end.
class Reference {
 public:
  void allocation(const trace::Allocation& a, const std::vector<trace::CallStack>& stacks) {
    const bool frees = a.function == Function::kFree || a.function == Function::kDelete;
    if (!frees && a.address == 0 && a.size != 0) return;
    std::string key = a.stack < stacks.size() ? "" : "none";
    if (a.stack < stacks.size()) {
      for (const std::uint64_t frame : stacks[a.stack]) key += std::to_string(frame) + " ";
    }
    key += std::to_string(static_cast<int>(a.function));
    std::int64_t ordinal = -1;
    for (std::size_t i = 0; i < heap_.size(); ++i) {
      if (a.old_address == 0 || heap_[i].start != a.old_address) continue;
      if (a.function == Function::kRealloc && heap_[i].key == key) ordinal = heap_[i].ordinal;
      heap_.erase(heap_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    if (frees || a.address == 0) return;
    if (ordinal < 0) ordinal = count_[key]++;
    const std::uint64_t size = std::max<std::uint64_t>(a.size, 1);
    std::erase_if(heap_, [&](const Range& r) { return r.start < a.address + size && a.address < r.start + r.size; });
    heap_.push_back({a.address, size, a.address, key, ordinal});
  }

  void mapping(const trace::Mapping& m) {
    if (m.operation == Operation::kProtect) return;
    std::optional<Range> old;
    if (m.operation == Operation::kRemap) {
      for (const Range& range : mapped_) {
        if (m.old_address - range.start < range.size) old = range;
      }
      cut(m.old_address, m.old_size);
    }
    cut(m.address, m.size);
    if (m.operation == Operation::kUnmap) return;
    if (old) {
      mapped_.push_back({m.address, m.size, m.address - (m.old_address - old->base), old->key, old->ordinal});
      return;
    }
    const std::string key = "map" + std::to_string(m.stack);
    mapped_.push_back({m.address, m.size, m.address, key, count_[key]++});
  }

  Place find(std::uint64_t address) {
    for (const std::vector<Range>* ranges : {&heap_, &mapped_}) {
      for (const Range& range : *ranges) {
        if (address - range.start >= range.size) continue;
        const auto [id, is_new] = ids_.try_emplace(range.key, static_cast<ObjectId>(ids_.size() + 2));
        return {id->second, range.ordinal, static_cast<std::int64_t>(address - range.base)};
      }
    }
    return {kUnknownObject, 0, static_cast<std::int64_t>(address)};
  }

  std::uint64_t some_block(std::uint64_t random) const {
    return heap_.empty() ? 0 : heap_[random % heap_.size()].start;
  }

 private:
  struct Range {
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    std::uint64_t base = 0;
    std::string key;
    std::int64_t ordinal = 0;
  };

  void cut(std::uint64_t start, std::uint64_t size) {
    std::vector<Range> left;
    for (const Range& range : mapped_) {
      const std::uint64_t end = range.start + range.size;
      Range low = range;
      low.size = std::min(end, start) - std::min(range.start, start);
      Range high = range;
      high.start = std::max(range.start, start + size);
      high.size = end > high.start ? end - high.start : 0;
      if (low.size != 0) left.push_back(low);
      if (high.size != 0) left.push_back(high);
    }
    mapped_ = left;
  }

  std::vector<Range> heap_;
  std::vector<Range> mapped_;
  std::map<std::string, std::int64_t> count_;
  std::map<std::string, ObjectId> ids_;
};

TEST_F(ObjectsTest, AgreesWithAListOfBlocks) {
  int known = 0;
  int unknown = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    std::mt19937_64 random(seed);
    Objects objects(symbolizer_, stacks_, modules_);
    Reference reference;
    const std::uint64_t span = seed % 2 == 0 ? 3000 : 60000;
    // Places that are a multiple of 128 KB apart, too: they share what find() remembers.
    const auto any_address = [&] { return 0x10000 + random() % span + (random() % 3 == 0 ? random() % 4 << 17 : 0); };
    const auto any_stack = [&] { return random() % 9 == 0 ? trace::kNoStack : trace::StackId(random() % 4); };
    for (int step = 0; step < 4000; ++step) {
      const std::uint64_t address = any_address();
      const std::uint64_t size = random() % 20 == 0 ? random() % 9000 : random() % 150;
      const std::uint64_t block = reference.some_block(random());
      switch (random() % 12) {
        case 0:
        case 1:
        case 2: {
          const trace::Allocation a =
              allocate(random() % 2 == 0 ? Function::kMalloc : Function::kNew, address, size, any_stack());
          objects.allocation(a);
          reference.allocation(a, stacks_);
          break;
        }
        case 3:
        case 4: {
          const trace::Allocation a = release(random() % 10 == 0 ? address : block);
          objects.allocation(a);
          reference.allocation(a, stacks_);
          break;
        }
        case 5: {
          const std::uint64_t where = random() % 3 == 0 ? block : random() % 12 == 0 ? 0 : address;
          const trace::Allocation a = allocate(Function::kRealloc, where, size, any_stack(), block);
          objects.allocation(a);
          reference.allocation(a, stacks_);
          break;
        }
        case 6: {
          if (random() % 4 != 0) break;
          const std::uint64_t page = address & ~std::uint64_t{0xff};
          const std::uint64_t pages = random() % 5 == 0 ? 0x70000 : 0x100 * (1 + random() % 8);
          const Operation operation = random() % 2 == 0 ? Operation::kMap : Operation::kUnmap;
          const trace::Mapping m = random() % 4 == 0 ? remap(page, pages, any_address(), 0x100 * (1 + random() % 8))
                                                     : map(operation, page, pages, 3);
          objects.mapping(m);
          reference.mapping(m);
          break;
        }
        default:
          break;
      }
      for (int i = 0; i < 3; ++i) {
        const std::uint64_t asked = random() % 2 == 0 ? any_address() : block + random() % 40;
        const Place place = objects.find(asked);
        ASSERT_EQ(place, reference.find(asked)) << "seed " << seed << " step " << step;
        ++(place.object == kUnknownObject ? unknown : known);
      }
    }
  }
  EXPECT_GT(known, 20000);
  EXPECT_GT(unknown, 20000);
}

// ---- Programs ------------------------------------------------------------------------------------------------------

constexpr const char* kSource = R"(#include <stdlib.h>
double conn[30][12];
static int seed = 3; char large[1 << 19];
char *xmalloc(unsigned long n) {
  return malloc(n);
}
double **alloc_rows(int n) {
  double **rows = malloc(n * sizeof *rows);
  for (int i = 0; i < n; ++i) rows[i] = (double *)xmalloc(80);
  return rows;
}
int main(void) {
  double **rows = alloc_rows(seed);
  return rows[0] == conn[0];
}
)";

/// A program and the return addresses of its calls, as if it had been loaded somewhere.
class LoadedProgram {
 public:
  explicit LoadedProgram(std::uint64_t bias, const std::string& after = "true") {
    directory_.write("rows.c", kSource);
    directory_.run("gcc -g -O0 rows.c -o prog");
    std::istringstream code(directory_.output_of("objdump -d --no-show-raw-insn prog"));
    std::istringstream names(directory_.output_of("nm prog"));
    directory_.run(after);
    modules_ = {directory_.module("prog", bias)};
    modules_[0].main_program = true;
    std::string line;
    std::string function;
    bool called = false;
    while (std::getline(code, line)) {
      if (line.ends_with(">:")) function = line.substr(line.find('<') + 1, line.size() - line.find('<') - 3);
      if (called) returns_[function].push_back(std::stoull(line, nullptr, 16) + modules_[0].load_bias);
      called = line.find("call ") != std::string::npos;
    }
    std::string address;
    std::string kind;
    std::string name;
    while (std::getline(names, line)) {
      std::istringstream words(line);
      if (words >> address >> kind >> name && address.size() == 16) {
        symbols_[name] = std::stoull(address, nullptr, 16) + modules_[0].load_bias;
      }
    }
    symbolizer_ = std::make_unique<symbols::Symbolizer>(modules_);
  }

  std::uint64_t return_address(const std::string& function, std::size_t call) { return returns_[function].at(call); }
  std::uint64_t symbol(const std::string& name) { return symbols_[name]; }
  symbols::Symbolizer& symbolizer() { return *symbolizer_; }
  const std::vector<trace::Module>& modules() const { return modules_; }

  /// The stacks of malloc in alloc_rows and of malloc in xmalloc.
  std::vector<trace::CallStack> stacks() {
    const std::uint64_t caller = return_address("main", 0);
    return {{return_address("alloc_rows", 0), caller},
            {return_address("xmalloc", 0), return_address("alloc_rows", 1), caller},
            {0x7fff00001234, return_address("xmalloc", 0), return_address("alloc_rows", 1), caller}};
  }

 private:
  symbols::TemporaryDirectory directory_;
  std::vector<trace::Module> modules_;
  std::map<std::string, std::vector<std::uint64_t>> returns_;
  std::map<std::string, std::uint64_t> symbols_;
  std::unique_ptr<symbols::Symbolizer> symbolizer_;
};

TEST(ObjectNames, AreThoseOfTheProgram) {
  LoadedProgram program(0x555555000000);
  const std::vector<trace::CallStack> stacks = program.stacks();
  Objects objects(program.symbolizer(), stacks, program.modules());
  objects.allocation(allocate(Function::kMalloc, 0x1000, 24, 0));
  for (std::uint64_t i = 0; i < 3; ++i) objects.allocation(allocate(Function::kMalloc, 0x2000 + 96 * i, 80, 1));
  objects.allocation(allocate(Function::kCalloc, 0x3000, 24, 2));
  objects.mapping(map(Operation::kMap, 0x10000, 0x1000, 1));
  EXPECT_EQ(objects.find(0x2000 + 96 + 8), (Place{2, 1, 8}));
  EXPECT_EQ(objects.find(0x1008), (Place{3, 0, 8}));
  EXPECT_EQ(objects.find(program.symbol("conn") + 96), (Place{4, 0, 96}));
  EXPECT_EQ(objects.find(program.symbol("seed")), (Place{5, 0, 0}));
  EXPECT_EQ(objects.find(0x3000), (Place{6, 0, 0}));
  EXPECT_EQ(objects.find(0x10000), (Place{7, 0, 0}));
  EXPECT_EQ(objects.frame(program.symbol("alloc_rows")), 8U);
  const Place got = objects.find(program.symbol("_GLOBAL_OFFSET_TABLE_") + 8);
  EXPECT_EQ(got.object, 9U);
  const std::vector<Object> all = objects.finish();
  ASSERT_EQ(all.size(), 10U);
  EXPECT_EQ(all[2].name, "malloc in xmalloc");
  EXPECT_EQ(all[2].line, 5);
  EXPECT_EQ(all[2].site, stacks[1][0]);
  EXPECT_EQ(all[2].blocks, 3U);
  EXPECT_EQ(all[3].name, "malloc in alloc_rows");
  EXPECT_TRUE(all[3].file.ends_with("/rows.c"));
  EXPECT_EQ(all[3].line, 8);
  EXPECT_EQ(all[4].name, "conn");
  EXPECT_EQ(all[4].kind, Object::Kind::kGlobal);
  EXPECT_EQ(all[4].type, "double[30][12]");
  EXPECT_EQ(all[4].size, 2880U);
  EXPECT_EQ(all[4].blocks, 1U);
  EXPECT_EQ(all[4].site, program.symbol("conn"));
  EXPECT_EQ(all[4].line, 2);
  EXPECT_EQ(all[5].name, "seed");
  EXPECT_EQ(all[6].name, "calloc in xmalloc") << "the innermost frame of the main program";
  EXPECT_EQ(all[6].site, stacks[1][0]);
  EXPECT_EQ(all[7].name, "mmap in xmalloc");
  EXPECT_EQ(all[8].name, "frame of alloc_rows");
  EXPECT_EQ(all[8].line, 7);
  EXPECT_TRUE(all[9].name.starts_with(".got") && all[9].name.ends_with(" of prog")) << all[9].name;
  EXPECT_GE(got.offset, 8);
}

TEST(ObjectNames, OfAStrippedProgramAreSectionsAndOffsets) {
  LoadedProgram program(0x555555000000, "strip prog");
  const std::vector<trace::CallStack> stacks = program.stacks();
  Objects objects(program.symbolizer(), stacks, program.modules());
  objects.allocation(allocate(Function::kMalloc, 0x1000, 24, 0));
  objects.find(0x1000);
  const Place seed = objects.find(program.symbol("seed"));
  const Place conn = objects.find(program.symbol("conn"));
  EXPECT_EQ(objects.find(program.symbol("conn") + 100), (Place{conn.object, 0, conn.offset + 100}));
  const std::vector<Object> all = objects.finish();
  EXPECT_TRUE(all[2].name.starts_with("malloc in prog+0x") || all[2].name.starts_with("malloc in ")) << all[2].name;
  EXPECT_EQ(all[seed.object].name, ".data of prog");
  EXPECT_EQ(all[conn.object].name, ".bss of prog");
  EXPECT_EQ(all[conn.object].blocks, 1U);
  EXPECT_GE(all[conn.object].size, 2880U);
}

/// Ids, blocks, offsets and names do not depend on where things are.
TEST(ObjectNames, AreTheSameForEveryLayout) {
  std::vector<std::vector<Place>> places(2);
  std::vector<std::vector<Object>> all(2);
  for (const std::size_t layout : {0U, 1U}) {
    LoadedProgram program(layout == 0 ? 0x555555000000 : 0x7f0000000000);
    const std::vector<trace::CallStack> stacks = program.stacks();
    Objects objects(program.symbolizer(), stacks, program.modules());
    std::mt19937_64 history(5);
    std::mt19937_64 layout_random(layout);
    std::vector<std::uint64_t> blocks;
    for (int i = 0; i < 500; ++i) {
      // Slots of 1 MB in an order of the layout's own.
      const std::uint64_t slot = (static_cast<std::uint64_t>(i) * (layout == 0 ? 7 : 333)) % 1000;
      blocks.push_back(0x100000000 * (layout + 1) + (slot << 20) + (layout_random() % 1000) * 16);
      objects.allocation(allocate(Function::kMalloc, blocks.back(), 1 + history() % 500, history() % 3));
      if (history() % 3 == 0) {
        const std::size_t victim = history() % blocks.size();
        objects.allocation(release(blocks[victim]));
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(victim));
      }
      if (!blocks.empty()) places[layout].push_back(objects.find(blocks[history() % blocks.size()]));
      places[layout].push_back(objects.find(program.symbol("conn") + history() % 2880));
    }
    all[layout] = objects.finish();
  }
  EXPECT_EQ(places[0], places[1]);
  ASSERT_EQ(all[0].size(), all[1].size());
  for (std::size_t i = 0; i < all[0].size(); ++i) {
    EXPECT_EQ(all[0][i].name, all[1][i].name);
    EXPECT_EQ(all[0][i].size, all[1][i].size);
    EXPECT_EQ(all[0][i].blocks, all[1][i].blocks);
  }
}

/// Which should not happen, but for libraries that were unloaded.
TEST(ObjectNames, GlobalsAreUnderHeapBlocks) {
  LoadedProgram program(0x555555000000);
  const std::vector<trace::CallStack> stacks = program.stacks();
  Objects objects(program.symbolizer(), stacks, program.modules());
  std::mt19937_64 random(9);
  std::map<std::uint64_t, std::uint64_t> heap;  // sizes by start, disjoint
  const std::uint64_t base = program.symbol("large") - 200;
  int in_heap = 0;
  int in_globals = 0;
  for (int step = 0; step < 20000; ++step) {
    const std::uint64_t slot = base + random() % 16 * 200 + (random() % 3 << 17);
    trace::Allocation event = release(slot);
    if (heap.erase(slot) == 0 && random() % 24 == 0) {
      heap[slot] = 1 + random() % 200;
      event = allocate(Function::kMalloc, slot, heap[slot], 0);
    }
    objects.allocation(event);
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t asked = base + random() % 3200 + (random() % 3 << 17);
      const Place place = objects.find(asked);
      const auto after = heap.upper_bound(asked);
      const symbols::DataPlace data = program.symbolizer().data_place(asked);
      if (after != heap.begin() && asked - std::prev(after)->first < std::prev(after)->second) {
        ASSERT_EQ(place.offset, static_cast<std::int64_t>(asked - std::prev(after)->first)) << step;
        ++in_heap;
      } else if (data.section != nullptr) {
        ASSERT_EQ(place.offset, static_cast<std::int64_t>(
                                    asked - (data.symbol != nullptr ? data.symbol->start : data.section->start)));
        ++in_globals;
      } else {
        ASSERT_EQ(place, (Place{kUnknownObject, 0, static_cast<std::int64_t>(asked)}));
      }
    }
  }
  EXPECT_GT(in_heap, 1000);
  EXPECT_GT(in_globals, 1000);
}

TEST(ObjectNames, SkipCodeOfTheCompilersHeaders) {
  symbols::TemporaryDirectory directory;
  directory.write("a.cc", R"(#include <vector>
__attribute__((noinline)) void fill(std::vector<int>& v) {
  v.push_back(3);
}
int main() { std::vector<int> v; fill(v); return v[0]; }
)");
  directory.run("g++ -g -O0 a.cc -o prog");
  std::vector<trace::Module> modules = {directory.module("prog", 0x555555000000)};
  modules[0].main_program = true;
  symbols::Symbolizer symbolizer(modules);
  // A stack from the allocator's innards out to fill: an address of each function, a little behind its start.
  trace::CallStack stack;
  std::istringstream names(directory.output_of("nm -C prog"));
  std::string line;
  std::vector<std::string> wanted = {"::allocate(unsigned long, void const*)", "_M_realloc_insert", "fill(std::vector"};
  std::map<std::string, std::uint64_t> found;
  while (std::getline(names, line)) {
    for (const std::string& part : wanted) {
      if (line.find(part) != std::string::npos) found[part] = std::stoull(line, nullptr, 16) + 0x555555000000 + 9;
    }
  }
  for (const std::string& part : wanted) {
    ASSERT_EQ(found.count(part), 1U) << part;
    stack.push_back(found[part]);
  }
  const std::vector<trace::CallStack> stacks = {stack, {stack[0], stack[1]}};
  Objects objects(symbolizer, stacks, modules);
  objects.allocation(allocate(Function::kNew, 0x1000, 4, 0));
  objects.allocation(allocate(Function::kNew, 0x2000, 4, 1));
  objects.find(0x1000);
  objects.find(0x2000);
  const std::vector<Object> all = objects.finish();
  EXPECT_TRUE(all[2].name.starts_with("new in fill(std::vector<int")) << all[2].name;
  EXPECT_EQ(all[2].site, stack[2]);
  EXPECT_NE(all[3].name.find("allocate"), std::string::npos) << all[3].name;
}

}  // namespace
}  // namespace loopfold::ddg
