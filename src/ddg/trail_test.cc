// What the parts of a trail know of each other.
#include "ddg/trail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <random>

namespace loopfold::ddg {
namespace {

constexpr auto kLoad = trace::Access::Kind::kLoad;
constexpr auto kStore = trace::Access::Kind::kStore;
constexpr Granule kRax = 0, kRcx = 4;

/// Parts of straight code, each with the definitions from 100 times its number on.
class Parts {
 public:
  using Bytes = std::vector<std::uint8_t>;
  struct At {
    std::uint16_t instruction = 0;
    trace::Access::Kind kind = kLoad;
    std::uint32_t size = 8;
  };
  Parts& part(std::initializer_list<Bytes> instructions, std::initializer_list<At> accesses = {}) {
    trace::Block block;
    block.id = static_cast<trace::BlockId>(blocks_.size());
    for (const Bytes& bytes : instructions) {
      block.bytes.insert(block.bytes.end(), bytes.begin(), bytes.end());
      block.lengths.push_back(static_cast<std::uint8_t>(bytes.size()));
    }
    for (const At& at : accesses) {
      trace::Access access;
      access.instruction = at.instruction;
      access.kind = at.kind;
      access.size = at.size;
      access.address = trace::Value::slot(0);
      block.accesses.push_back(access);
    }
    blocks_.push_back(std::make_unique<trace::Block>(std::move(block)));
    return *this;
  }

  /// The node of the last part.
  const TrailNode& follow() {
    for (const std::unique_ptr<trace::Block>& block : blocks_) facts_.push_back(trace::decode(*block));
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      structure::Part part;
      part.instructions = static_cast<std::uint16_t>(blocks_[i]->lengths.size());
      codes_.push_back(std::make_unique<PartCode>(
          compile_part(*blocks_[i], facts_[i], part, blocks_[i]->accesses.size(), 0, granules_)));
      const auto site = static_cast<SiteId>(i + 1);
      nodes_.push_back(make_trail(i == 0 ? nullptr : nodes_.back().get(), *codes_.back(), *blocks_[i], site, 100 * site,
                                  facts_[i], granules_, true));
    }
    return *nodes_.back();
  }
  std::unique_ptr<TrailNode> again(SiteId site) {
    return make_trail(nodes_.back().get(), *codes_[0], *blocks_[0], site, 100 * site, facts_[0], granules_, true);
  }

 private:
  Granules granules_{8};
  std::vector<std::unique_ptr<trace::Block>> blocks_;
  std::vector<std::vector<trace::InstructionFacts>> facts_;
  std::vector<std::unique_ptr<PartCode>> codes_;
  std::vector<std::unique_ptr<TrailNode>> nodes_;
};

TEST(Trail, ReadsOfWhatAPartBeforeWroteAreKnown) {
  Parts parts;
  parts.part({{0x48, 0x8d, 0x43, 0x01}});                             // lea rax,[rbx+1]
  const TrailNode& node = parts.part({{0x48, 0x01, 0xc1}}).follow();  // add rcx,rax
  ASSERT_EQ(node.made.size(), 1u);
  EXPECT_EQ(node.made[0].writer, 100u);
  ASSERT_EQ(node.code.reads.size(), 1u);  // rcx
  EXPECT_EQ(node.code.live_ins[node.code.reads[0].first].granule, kRcx);
  EXPECT_TRUE(node.mixed.empty());
  ASSERT_EQ(node.made_uses.size(), 1u);
  EXPECT_EQ(node.made_uses[0].maker, 100u);
}

TEST(Trail, ReadsOfWhatSeveralWroteAreMixed) {
  Parts parts;
  parts.part({{0xb0, 0x05}});                                         // mov al,5
  const TrailNode& node = parts.part({{0x48, 0x01, 0xc1}}).follow();  // add rcx,rax
  EXPECT_TRUE(node.made.empty());
  ASSERT_EQ(node.mixed.size(), 1u);
  ASSERT_EQ(node.mixed_granules.size(), 4u);
  EXPECT_EQ(node.mixed_granules[0].writer, 100u);
  EXPECT_EQ(node.mixed_granules[1].writer, 0u);
  EXPECT_TRUE(node.made_uses.empty());
}

TEST(Trail, RegistersAreLeftToTheLastWriters) {
  Parts parts;
  parts.part({{0x48, 0x8d, 0x43, 0x01}, {0x48, 0x8d, 0x4b, 0x02}});         // lea rax,[rbx+1]; lea rcx,[rbx+2]
  const TrailNode& node = parts.part({{0x48, 0x8d, 0x43, 0x03}}).follow();  // lea rax,[rbx+3]
  ASSERT_EQ(node.outs.size(), 2u);
  EXPECT_EQ(node.outs[0].granule, kRax);
  EXPECT_EQ(node.outs[0].writer, 200u);
  EXPECT_EQ(node.outs[1].granule, kRcx);
  EXPECT_EQ(node.outs[1].writer, 101u);
  EXPECT_TRUE(node.end.origins.outs.empty());
}

/// A copy in another part is a record, with what it copied; one in the part that made it is not.
TEST(Trail, CopiesOfWhatAPartBeforeMade) {
  Parts parts;
  parts.part({{0x48, 0x8d, 0x43, 0x01}});                             // lea rax,[rbx+1]
  parts.part({{0x48, 0x89, 0xc1}});                                   // mov rcx,rax
  const TrailNode& node = parts.part({{0x48, 0x01, 0xca}}).follow();  // add rdx,rcx
  const auto copied = std::find_if(node.code.origins.uses.begin(), node.code.origins.uses.end(),
                                   [](const OriginCode::Use& use) { return use.copier != kOutside; });
  ASSERT_NE(copied, node.code.origins.uses.end());
  EXPECT_EQ(copied->maker, 100u);
  EXPECT_EQ(copied->copier, 200u);
  EXPECT_FALSE(copied->local);
}

TEST(Trail, LoadsOfPartsBefore) {
  Parts parts;
  parts.part({{0x48, 0x8b, 0x07}}, {{0, kLoad, 8}});  // mov rax,[rdi]
  const TrailNode& node = parts
                              .part({{0x48, 0x89, 0xc1}, {0x48, 0x01, 0xca}, {0x48, 0x01, 0xc3}})  // mov rcx,rax;
                              .follow();  // add rdx,rcx; add rbx,rax
  ASSERT_EQ(node.code.origins.loads.size(), 1u);
  EXPECT_EQ(node.code.origins.loads[0].instruction, 100u);
  std::size_t copied = 0;
  std::size_t loaded = 0;
  for (const OriginCode::Use& use : node.code.origins.uses) {
    if (use.load == kOutside) continue;
    ++loaded;
    if (use.copier == kOutside) continue;
    ++copied;
    EXPECT_EQ(use.copier, 200u);
    EXPECT_TRUE(use.local);
  }
  EXPECT_EQ(loaded, 2u);
  EXPECT_EQ(copied, 1u);
}

TEST(Trail, SeveralSourcesInAGranuleEndIt) {
  Parts parts;
  const TrailNode& node = parts.part({{0x66, 0x48, 0x0f, 0x6e, 0xc0}}).follow();  // movq xmm0,rax
  EXPECT_TRUE(node.last);
  EXPECT_EQ(parts.again(7), nullptr);
}

TEST(Trail, APartRunsOnceInIt) {
  Parts parts;
  parts.part({{0x48, 0x8d, 0x43, 0x01}}).follow();
  EXPECT_EQ(parts.again(1), nullptr);
  EXPECT_NE(parts.again(2), nullptr);
}

TEST(Trail, SpillsStayWhereTheyAre) {
  Parts parts;
  parts.part({{0x48, 0x8d, 0x43, 0x01}});                                                     // lea rax,[rbx+1]
  const TrailNode& node = parts.part({{0x48, 0x89, 0x45, 0xf8}}, {{0, kStore, 8}}).follow();  // mov [rbp-8],rax
  ASSERT_EQ(node.code.origins.spills.size(), 1u);
  const OriginCode::Spill& spill = node.code.origins.spills[node.code.accesses[0].spill];
  ASSERT_EQ(spill.count, 4u);
  EXPECT_EQ(node.code.origins.pieces[spill.first].source, (Source{Source::Kind::kHere, 0, 0, 100}));
  // Whether it is one is known only when it runs: the use is not taken out.
  EXPECT_TRUE(node.made_uses.empty());
}

/// All ways in which a value may be cut, against the slow form.
TEST(Formula, SameAsEvaluate) {
  using Extend = trace::Expression::Extend;
  std::mt19937_64 random(5);
  trace::Block block;
  for (const Extend extend : {Extend::kNone, Extend::kZero8, Extend::kZero16, Extend::kZero32, Extend::kSign8,
                              Extend::kSign16, Extend::kSign32}) {
    for (const std::size_t terms : {0u, 1u, 2u}) {
      trace::Expression expression;
      expression.extend = extend;
      expression.constant = random();
      for (std::size_t i = 0; i < terms; ++i)
        expression.terms.push_back({trace::Value::slot(i == 0 ? 2 : 1), random()});
      block.expressions.push_back(expression);
    }
  }
  const auto first = static_cast<std::uint32_t>(block.expressions.size());
  for (std::uint32_t i = 0; i < first; ++i) {
    trace::Expression outer;
    outer.terms.push_back({trace::Value::expression(i), 3});
    block.expressions.push_back(outer);
  }
  std::vector<trace::Value> values{trace::Value::slot(1), trace::Value::constant(7), {}};
  for (std::uint32_t i = 0; i < block.expressions.size(); ++i) values.push_back(trace::Value::expression(i));
  for (const trace::Value& value : values) {
    const Formula formula(block, value);
    for (int i = 0; i < 20; ++i) {
      const std::array<std::uint64_t, 3> slots{random(), random() >> random() % 64, random() >> random() % 64};
      EXPECT_EQ(formula.at(slots.data()), trace::evaluate(block, value, slots));
    }
  }
}

}  // namespace
}  // namespace loopfold::ddg
