// What is worked out for a path: where its registers come from, what it exposes, which loads it copies; and pieces of
// dependences that grow.
#include "ddg/stretch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <numeric>
#include <random>

#include "ddg/steady.h"

namespace loopfold::ddg {
namespace {

using Bytes = std::vector<std::uint8_t>;
using From = StretchPlan::ReadGranule::From;

const Bytes kMoveRaxToRcx{0x48, 0x89, 0xc1}, kMoveRbxToRax{0x48, 0x89, 0xd8}, kMoveRcxToRbx{0x48, 0x89, 0xcb},
    kLoadRax{0x48, 0x8b, 0x06}, kStoreRax{0x48, 0x89, 0x07}, kAddRbxToRax{0x48, 0x01, 0xd8},
    kAddRcxToRdx{0x48, 0x01, 0xca}, kAddRaxToRdx{0x48, 0x01, 0xc2}, kNextRsi{0x48, 0x83, 0xc6, 0x08},
    kClearRax{0x31, 0xc0}, kPushX87{0xd9, 0xe8}, kNop{0x90};
constexpr std::uint8_t kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsi = 6, kRdi = 7;

/// Blocks of code in one loop, as the parts of a path.
class StretchTest : public ::testing::Test {
 protected:
  StretchTest() {
    structure::ContextKey key;
    key.kind = structure::Context::Kind::kStart;
    key.parent = structure::LoopTree::root();
    const structure::ContextId start = tree.child(key, 0, 0);
    key.kind = structure::Context::Kind::kLoop;
    key.parent = start;
    key.loop = 1;
    loop = tree.child(key, 1, 0);
  }

  /// One more part. [rsi] is loaded from, [rdi] stored to.
  void part(std::initializer_list<Bytes> instructions) {
    trace::Block& block = blocks.emplace_back();
    block.address = 0x1000 * blocks.size();
    for (const Bytes& bytes : instructions) {
      if (bytes == kLoadRax || bytes == kStoreRax) {
        trace::Access access;
        access.instruction = static_cast<std::uint16_t>(block.lengths.size());
        access.kind = bytes == kLoadRax ? trace::Access::Kind::kLoad : trace::Access::Kind::kStore;
        access.size = 8;
        block.accesses.push_back(access);
      }
      block.bytes.insert(block.bytes.end(), bytes.begin(), bytes.end());
      block.lengths.push_back(static_cast<std::uint8_t>(bytes.size()));
    }
  }

  StretchPlan plan() {
    std::vector<std::vector<trace::InstructionFacts>> facts;
    std::vector<trace::Block> all(blocks.begin(), blocks.end());
    for (const trace::Block& block : all) facts.push_back(trace::decode(block));
    granules = granules_for(all, facts);
    std::vector<PathPart> parts;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      structure::Part what;
      what.instructions = static_cast<std::uint16_t>(blocks[i].lengths.size());
      codes.push_back(compile_part(blocks[i], facts[i], what, blocks[i].accesses.size(), 0, granules));
      const auto node = static_cast<structure::NodeId>(i + 1);
      sites.push_back(streams.site({Statement::Kind::kCode, loop, 0, node, 0, 0}, 0, what.instructions));
      parts.push_back({sites.back(), &codes.back(), &blocks[i], 0, 0});
    }
    return plan_stretch(parts, granules.count(), streams);
  }

  std::vector<Granule> granules_of(std::uint8_t reg) const {
    std::vector<Granules::Piece> pieces;
    granules.of_general(reg, pieces);
    std::vector<Granule> all;
    for (const Granules::Piece& piece : pieces) all.push_back(piece.granule);
    return all;
  }
  /// Whether the register is exposed: not at all, or all of it and written or not.
  std::string exposed(const StretchPlan& plan, std::uint8_t reg) const {
    std::size_t found = 0;
    std::size_t written = 0;
    for (const Granule granule : granules_of(reg))
      for (const StretchPlan::Exposed& exposed : plan.exposed)
        if (exposed.granule == granule) ++found, written += exposed.written ? 1 : 0;
    if (found == 0) return "no";
    if (found != granules_of(reg).size()) return "in part";
    return written == 0 ? "yes" : written == found ? "written" : "written in part";
  }
  /// Where an instruction of a part gets a register from; the definition if that is in the same iteration.
  std::pair<From, DefinitionId> source(const StretchPlan& plan, std::uint32_t part, std::uint16_t instruction,
                                       std::uint8_t reg) const {
    const std::vector<Granule> wanted = granules_of(reg);
    for (const StretchPlan::Read& read : plan.reads) {
      if (read.part != part || read.read->instruction != instruction) continue;
      for (std::uint32_t i = 0; i < read.read->count; ++i) {
        const StretchPlan::ReadGranule& granule = plan.granules[read.first + i];
        if (granule.granule == wanted[0]) return {granule.from, granule.definition};
      }
    }
    ADD_FAILURE() << "part " << part << ", instruction " << instruction << " does not read register " << int{reg};
    return {};
  }

  structure::LoopTree tree;
  structure::ContextId loop = 0;
  Streams streams{{}, tree};
  std::deque<trace::Block> blocks;
  std::deque<PartCode> codes;
  std::vector<SiteId> sites;
  Granules granules;
};

TEST_F(StretchTest, RegistersComeFromTheLastWriteBefore) {
  part({kAddRbxToRax});                 // of the iteration before; of before the loop
  part({kAddRaxToRdx, kMoveRaxToRcx});  // of the part before
  part({kAddRcxToRdx});
  const StretchPlan plan = this->plan();
  ASSERT_TRUE(plan.possible);
  EXPECT_EQ(source(plan, 0, 0, kRax).first, From::kLastIteration);
  EXPECT_EQ(source(plan, 0, 0, kRbx).first, From::kBefore);
  EXPECT_EQ(source(plan, 1, 0, kRax), std::make_pair(From::kThisIteration, streams.definition(sites[0], 0)));
  EXPECT_EQ(source(plan, 1, 0, kRdx).first, From::kLastIteration);
  EXPECT_EQ(source(plan, 2, 0, kRcx), std::make_pair(From::kThisIteration, streams.definition(sites[1], 1)));
  EXPECT_EQ(source(plan, 2, 0, kRdx), std::make_pair(From::kThisIteration, streams.definition(sites[1], 0)));
}

/// What is written before it is read is nobody's business.
TEST_F(StretchTest, ExposedIsWhatIsReadFirst) {
  part({kClearRax, kAddRbxToRax});
  part({kAddRaxToRdx});
  const StretchPlan plan = this->plan();
  EXPECT_EQ(exposed(plan, kRax), "no");
  EXPECT_EQ(exposed(plan, kRbx), "yes");
  EXPECT_EQ(exposed(plan, kRdx), "written");
  EXPECT_EQ(exposed(plan, kRsi), "no");
}

TEST_F(StretchTest, APathThatPassesValuesRoundExposesThem) {
  part({kMoveRaxToRcx, kMoveRbxToRax, kMoveRcxToRbx});
  const StretchPlan plan = this->plan();
  EXPECT_EQ(exposed(plan, kRax), "written");
  EXPECT_EQ(exposed(plan, kRbx), "written");
  EXPECT_EQ(exposed(plan, kRcx), "no") << "it is set before it is used";
}

TEST_F(StretchTest, CopiesMayBeSpreadOverParts) {
  part({kMoveRaxToRcx});
  part({kMoveRbxToRax});
  part({kMoveRcxToRbx});
  const StretchPlan plan = this->plan();
  EXPECT_EQ(exposed(plan, kRax), "written");
  EXPECT_EQ(exposed(plan, kRbx), "written");
  EXPECT_EQ(exposed(plan, kRcx), "no");
}

TEST_F(StretchTest, LoadsThatAreUsedDirectlyAreNotCopied) {
  part({kLoadRax});
  part({kAddRaxToRdx});
  EXPECT_TRUE(plan().copied_loads.empty());
}

/// The second access of the path; the copy is in the load's part, in the use's, or in one between.
TEST_F(StretchTest, LoadsThatAreUsedBehindACopy) {
  part({kStoreRax});
  part({kLoadRax, kMoveRaxToRcx});
  part({kAddRcxToRdx});
  EXPECT_EQ(plan().copied_loads, std::vector<std::uint32_t>{1});
}
TEST_F(StretchTest, LoadsThatAreCopiedWhereTheyAreUsed) {
  part({kStoreRax});
  part({kLoadRax});
  part({kMoveRaxToRcx, kAddRcxToRdx});
  EXPECT_EQ(plan().copied_loads, std::vector<std::uint32_t>{1});
}
TEST_F(StretchTest, LoadsThatAreCopiedInBetween) {
  part({kLoadRax});
  part({kMoveRaxToRcx});
  part({kAddRcxToRdx});
  EXPECT_EQ(plan().copied_loads, std::vector<std::uint32_t>{0});
}
TEST_F(StretchTest, OfTwoLoadsTheOneThatIsCopied) {
  part({kLoadRax, kMoveRaxToRcx});
  part({kLoadRax});
  part({kAddRaxToRdx, kAddRcxToRdx});
  EXPECT_EQ(plan().copied_loads, std::vector<std::uint32_t>{0});
}
TEST_F(StretchTest, LoadsThatAreOverwrittenBeforeTheUse) {
  part({kLoadRax, kMoveRaxToRcx});
  part({kAddRbxToRax, kMoveRaxToRcx});
  part({kAddRcxToRdx});
  EXPECT_TRUE(plan().copied_loads.empty());
}

TEST_F(StretchTest, X87IsLeftToEvents) {
  part({kNop});
  part({kPushX87});
  EXPECT_FALSE(plan().possible);
}

TEST_F(StretchTest, PointersThatMoveAreExposed) {
  part({kLoadRax, kStoreRax, kNextRsi});
  const StretchPlan plan = this->plan();
  EXPECT_EQ(exposed(plan, kRsi), "written");
  EXPECT_EQ(exposed(plan, kRdi), "yes");
  EXPECT_EQ(source(plan, 0, 0, kRsi).first, From::kLastIteration);
  EXPECT_EQ(source(plan, 0, 1, kRdi).first, From::kBefore);
}

/// rax and rdx are found by the first iteration as nothing else finds them; rbx is the same for all.
TEST_F(StretchTest, FirstUsesAreOfWhatThePathWritesLater) {
  part({kAddRbxToRax});
  part({kAddRaxToRdx});
  const StretchPlan plan = this->plan();
  ASSERT_EQ(plan.first_uses.size(), 2u);
  EXPECT_EQ(plan.first_uses[0].part, 0u);
  EXPECT_EQ(plan.first_uses[0].use->granule, granules_of(kRax)[0]);
  EXPECT_EQ(plan.first_uses[1].part, 1u);
  EXPECT_EQ(plan.first_uses[1].use->granule, granules_of(kRdx)[0]);
  EXPECT_FALSE(plan.mixes_uses);
}

/// al is cleared, and then all of rax is used.
TEST_F(StretchTest, AUseOfWhatIsPartlyWrittenIsMixed) {
  part({{0xb0, 0x00}, kAddRaxToRdx});
  EXPECT_TRUE(plan().mixes_uses);
}

/// rax and rcx are neighbours, but only one of them is written.
TEST_F(StretchTest, ExposedGranulesThatAreAlike) {
  part({kAddRaxToRdx, kAddRcxToRdx, kAddRbxToRax});
  const StretchPlan plan = this->plan();
  ASSERT_GE(plan.exposed.size(), 8u);
  EXPECT_EQ(plan.exposed[0].run, 4) << "rax";
  EXPECT_EQ(plan.exposed[1].run, 3);
  EXPECT_EQ(plan.exposed[3].run, 1);
  EXPECT_EQ(plan.exposed[4].run, 4) << "rcx";
}

// ---- Pieces --------------------------------------------------------------------------------------------------------

DependencePiece piece_at(std::uint64_t counter) {
  DependencePiece piece;
  piece.producer = 7;
  piece.entry = 2;
  piece.counter = piece.next = counter;
  piece.n = 1;
  return piece;
}

TEST(DependencePiece, GrowsEvenlyFromItsSecondCell) {
  for (const std::int64_t step : {0, 1, 5, -2}) {
    DependencePiece piece = piece_at(100);
    for (std::uint64_t k = 1; k < 6; ++k) {
      ASSERT_TRUE(piece.takes({7, 2, 100 + static_cast<std::uint64_t>(step) * k})) << step << " " << k;
      EXPECT_EQ(piece.n, k + 1);
    }
    EXPECT_EQ(static_cast<std::int64_t>(piece.step), step);
    EXPECT_FALSE(piece.takes({7, 2, 100 + static_cast<std::uint64_t>(step) * 6 + 1}));
    EXPECT_EQ(piece.n, 6u) << "what it does not take does not count";
    EXPECT_TRUE(piece.takes({7, 2, 100 + static_cast<std::uint64_t>(step) * 6}));
  }
}

TEST(DependencePiece, TakesOneProducerOfOneEntry) {
  DependencePiece piece = piece_at(4);
  EXPECT_FALSE(piece.takes({8, 2, 4}));
  EXPECT_FALSE(piece.takes({7, 3, 4}));
  EXPECT_EQ(piece.n, 1u);
}

/// What is seen of addresses that come one by one, of these iterations.
bool seen_even(const std::vector<std::uint64_t>& addresses, const std::vector<std::uint64_t>& iterations) {
  EvenAddresses seen;
  return std::all_of(iterations.begin(), iterations.end(),
                     [&](std::uint64_t i) { return seen.add(1, i, addresses[i]); });
}

/// Addresses that ascend or descend, in line but for two that change places, or for some at the end.
TEST(ShowsUneven, AsTheFollowedIterationsDo) {
  std::mt19937_64 random(1);
  const auto pick = [&](std::uint64_t below) { return random() % below; };
  unsigned hidden = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::uint64_t n = 4 + pick(12);
    const std::uint64_t k = 1 + pick(3);
    const std::int64_t steps[] = {8, -8, 1, -1, -3, 24, 0};
    const auto step = static_cast<std::uint64_t>(steps[pick(7)]);
    std::vector<std::uint64_t> addresses;
    for (std::uint64_t i = 0; i < n; ++i) addresses.push_back(0x500000 + step * i);
    if (const std::uint64_t at = pick(n - 1); pick(4) != 0) std::swap(addresses[at], addresses[at + 1]);
    if (pick(4) == 0)
      for (std::uint64_t i = pick(n); i < n; ++i) addresses[i] += 16;
    std::vector<std::uint64_t> all(n);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    std::vector<std::uint64_t> followed(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(k + 1, n - 1)));
    followed.push_back(n - 1);
    const bool tells = seen_even(addresses, followed) == seen_even(addresses, all);
    EXPECT_EQ(shows_uneven(addresses, k), tells) << "step " << static_cast<std::int64_t>(step) << ", k " << k;
    hidden += tells ? 0 : 1;
  }
  EXPECT_GT(hidden, 1000u);
}

/// The middle of addresses that descend is not in line; iterations 0, 1, 2 and the last are.
TEST(ShowsUneven, DescendingWithADentInTheMiddle) {
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t i = 0; i < 10; ++i) addresses.push_back(0x500000 - 8 * i);
  EXPECT_TRUE(shows_uneven(addresses, 2));
  std::swap(addresses[5], addresses[6]);
  EXPECT_FALSE(shows_uneven(addresses, 2));
  EXPECT_FALSE(shows_uneven(addresses, 3));
  EXPECT_TRUE(shows_uneven(addresses, 5));
}

}  // namespace
}  // namespace loopfold::ddg
