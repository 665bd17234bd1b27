// Shapes of arrays from the strides of accesses, by hand and for random arrays.
#include "advise/arrays.h"

#include <gtest/gtest.h>

#include <random>

namespace loopfold::advise {
namespace {

/// A profile with one object, and loops with so many iterations, all around one statement.
class Scene {
 public:
  Scene(std::uint64_t size, std::vector<std::uint64_t> trips, std::uint64_t blocks = 1) {
    profile_.objects.emplace_back().name = "A";
    profile_.objects[0].size = size;
    profile_.objects[0].blocks = blocks;
    profile_.objects[0].kind = profile::Object::Kind::kHeap;
    profile::Statement& statement = profile_.statements.emplace_back();
    profile_.tree.emplace_back();
    for (const std::uint64_t trip : trips) {
      profile::TreeNode& node = profile_.tree.emplace_back();
      node.id = static_cast<std::uint32_t>(profile_.tree.size() - 1);
      node.kind = profile::TreeNode::Kind::kLoop;
      node.iterations_per_entry.max = trip;
      statement.loops.emplace_back(node.id);
    }
  }

  Scene& access(std::int64_t constant, std::vector<profile::Coefficient> coefficients, std::uint64_t size = 8,
                std::vector<profile::Coefficient> blocks = {}) {
    profile::Access& made = profile_.accesses.emplace_back();
    made.size = size;
    made.constant = constant;
    made.exact = true;
    made.affine = true;
    made.count = 100;
    made.block_coefficients = blocks.empty() ? std::vector<profile::Coefficient>(coefficients.size(), 0) : blocks;
    made.coefficients = std::move(coefficients);
    return *this;
  }

  Array array() const { return find_arrays(profile_)[0]; }
  std::string text() const { return array_text(array(), profile_.objects[0]); }
  profile::Profile& profile() { return profile_; }

 private:
  profile::Profile profile_;
};

TEST(Arrays, AMatrixByRows) {
  Scene scene(300 * 120 * 8, {300, 120});
  scene.access(0, {960, 8});
  EXPECT_EQ(scene.text(), "A[300][120] of 8 bytes");
}

TEST(Arrays, AMatrixThatIsWalkedByColumns) {
  Scene scene(300 * 120 * 8, {120, 300});
  scene.access(0, {8, 960});
  EXPECT_EQ(scene.text(), "A[300][120] of 8 bytes");
}

TEST(Arrays, StepsOfTwoAreNoDimension) {
  Scene scene(100 * 8, {50, 100});
  scene.access(0, {16, 0}).access(0, {0, 8});
  EXPECT_EQ(scene.text(), "A[100] of 8 bytes");
}

TEST(Arrays, ADiagonalIsNoDimension) {
  Scene scene(50 * 50 * 8, {50, 50});
  scene.access(0, {400, 8}).access(0, {408, 0});
  EXPECT_EQ(scene.text(), "A[50][50] of 8 bytes");
}

TEST(Arrays, Structures) {
  Scene scene(1000 * 32, {1000});
  scene.access(0, {32}).access(8, {32}).access(24, {32}, 4);
  const Array array = scene.array();
  EXPECT_EQ(array_text(array, scene.profile().objects[0]), "A[1000] of structures of 32 bytes");
  EXPECT_EQ(array.fields, (std::vector<ArrayField>{{0, 8, 100}, {8, 8, 100}, {24, 4, 100}}));
  EXPECT_EQ(array.assumes, std::vector<std::string>{"elements are structures of 32 bytes"});
}

TEST(Arrays, RowsThatAreBlocks) {
  Scene scene(40 * 8, {30, 40}, 30);
  scene.access(0, {0, 8}, 8, {1, 0});
  EXPECT_EQ(scene.text(), "A[30][40] of 8 bytes");
  EXPECT_EQ(subscript_steps(scene.array(), 8, 0), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(subscript_steps(scene.array(), -8, 1), (std::vector<std::int64_t>{1, -1}));
}

TEST(Arrays, NoShape) {
  Scene irregular(800, {100});
  irregular.access(0, {std::nullopt});
  EXPECT_EQ(irregular.array().problem, "an access that is not affine");
  Scene blocks(800, {100}, 5);
  blocks.access(0, {8});
  EXPECT_EQ(blocks.array().problem, "several blocks that are used one by one");
  Scene overlap(3200, {100});
  overlap.access(0, {32}).access(4, {32});
  EXPECT_EQ(overlap.array().problem, "fields that overlap");
  Scene unused(800, {});
  EXPECT_EQ(unused.array().problem, "nothing accesses it");
}

TEST(Arrays, StepsOfSubscripts) {
  Scene scene(300 * 120 * 8, {300, 120});
  scene.access(0, {960, 8});
  const Array array = scene.array();
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(subscript_steps(array, 960, 0), (Steps{1, 0}));
  EXPECT_EQ(subscript_steps(array, 968, 0), (Steps{1, 1}));
  EXPECT_EQ(subscript_steps(array, 952, 0), (Steps{1, -1}));
  EXPECT_EQ(subscript_steps(array, -8, 0), (Steps{0, -1}));
  EXPECT_EQ(subscript_steps(array, 4, 0), Steps{});
  EXPECT_EQ(subscript_steps(array, 8, 1), Steps{});
}

/// Arrays of random shapes, walked whole in a random order of their dimensions.
TEST(Arrays, RandomShapesAreFound) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const std::size_t depth = 1 + random() % 4;
    std::vector<std::uint64_t> extents(depth);
    for (std::uint64_t& extent : extents) extent = 2 + random() % 9;
    std::vector<std::int64_t> strides(depth);
    std::int64_t size = 8;
    for (std::size_t k = depth; k-- > 0;) {
      strides[k] = size;
      size *= static_cast<std::int64_t>(extents[k]);
    }
    std::vector<std::size_t> order(depth);
    for (std::size_t k = 0; k < depth; ++k) order[k] = k;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::uint64_t> trips;
    std::vector<profile::Coefficient> steps;
    for (const std::size_t k : order) {
      trips.push_back(extents[k]);
      steps.emplace_back(strides[k]);
    }
    Scene scene(static_cast<std::uint64_t>(size), trips);
    scene.access(0, steps);
    const Array array = scene.array();
    ASSERT_EQ(array.dimensions.size(), depth);
    for (std::size_t k = 0; k < depth; ++k) {
      EXPECT_EQ(array.dimensions[k], (ArrayDimension{strides[k], extents[k]}));
    }
  }
}

TEST(Arrays, ATypeSaysWhatStridesDoNot) {
  Scene scene(300 * 120 * 8, {120});
  scene.access(0, {8});
  EXPECT_EQ(scene.text(), "A[36000] of 8 bytes");
  scene.profile().objects[0].type = "double[300][120]";
  EXPECT_EQ(scene.text(), "A[300][120] of 8 bytes");
}

TEST(Arrays, ATypeWhoseRowsAreNotKeptToIsNotBelieved) {
  Scene scene(300 * 120 * 8, {36000});
  scene.access(0, {8});
  scene.profile().objects[0].type = "double[300][120]";
  EXPECT_EQ(scene.text(), "A[36000] of 8 bytes");
  Scene odd(300 * 120 * 8, {100});
  odd.access(0, {24});
  odd.profile().objects[0].type = "double[]";
  EXPECT_EQ(odd.array().element, 24);
}

TEST(Arrays, AnArrayOfStructuresByItsType) {
  Scene scene(2000 * 64, {2000});
  scene.access(8, {64});
  scene.profile().objects[0].type = "struct particle[2000]";
  EXPECT_EQ(scene.text(), "A[2000] of structures of 64 bytes");
}

}  // namespace
}  // namespace loopfold::advise
