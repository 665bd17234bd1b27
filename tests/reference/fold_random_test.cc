// Folders against the reference, on random streams.
//
// LOOPFOLD_SEED: the first seed (default 1); LOOPFOLD_STREAMS: how many (default 2000); LOOPFOLD_SOAK: times as many.
// A failure says how to repeat it, and the smallest stream that was found to fail in the same way.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "reference/fold_reference.h"
#include "reference/fold_shrink.h"
#include "reference/fold_streams.h"

namespace loopfold::fold::reference {

namespace {

using Kind = Complaint::Kind;

constexpr Variant kVariants[] = {Variant::kF, Variant::kFW, Variant::kFGG, Variant::kFGGW, Variant::kAuto};
constexpr std::size_t kMostShown = 2;  // failures that are shrunk and shown, per test, variant and kind of complaint

/// How one stream is folded.
struct Trial {
  Options options;
  std::size_t give_up_at = kNever;
};

/// One piece per row is what the published algorithm starts from. kAuto has options.max_pieces, and looks for strides
/// first: what it then takes for one (0 and 4 of 0, 2, 3, 4, 6) may cost it a row.
std::size_t most_pieces(const Stream& stream, const Options& options) {
  return options.variant == Variant::kAuto ? options.max_pieces : fold_naively(stream).pieces.size();
}

std::optional<Complaint> first_complaint(const Stream& stream, const Trial& trial) {
  const Folded folded = fold_stream(stream, trial.options, trial.give_up_at);
  const bool asked = trial.give_up_at < stream.points.size();
  if (const std::vector<Complaint> complaints = check(stream, folded); !complaints.empty()) return complaints.front();
  if (const std::vector<Complaint> complaints = check_variant(stream, folded, trial.options, asked);
      !complaints.empty())
    return complaints.front();
  if (!same(folded, fold_stream(stream, trial.options, trial.give_up_at)))
    return Complaint{Kind::kVariant, "another result for the same points"};
  if (in_order(stream) && folded.pieces.size() > most_pieces(stream, trial.options))
    return Complaint{Kind::kVariant, "too many pieces for so few rows"};
  return std::nullopt;
}

std::string report(const Stream& stream, const Trial& trial, const Complaint& complaint, std::uint64_t seed) {
  const Fails fails = [&](const Stream& smaller) {
    const std::optional<Complaint> again = first_complaint(smaller, trial);
    return again && again->kind == complaint.kind;
  };
  const Stream small = shrink(stream, fails);
  const std::optional<Complaint> left = first_complaint(small, trial);
  return fmt::format(
      "{} ({} points) in {} with max_pieces {}{}: {}: {}\n"
      "again: LOOPFOLD_SEED={} LOOPFOLD_STREAMS=1 build/tests/fold_reference_test --gtest_filter={}.{}\n"
      "smallest: {}\n{}: {}\n{}",
      stream.what, stream.points.size(), variant_name(trial.options.variant), trial.options.max_pieces,
      trial.give_up_at == kNever ? "" : fmt::format(", give_up() before point {}", trial.give_up_at),
      kind_name(complaint.kind), complaint.text, seed,
      testing::UnitTest::GetInstance()->current_test_info()->test_suite_name(),
      testing::UnitTest::GetInstance()->current_test_info()->name(), literal(small),
      left ? kind_name(left->kind) : "not repeatable", left ? left->text : "",
      text(fold_stream(small, trial.options, trial.give_up_at)));
}

/// Most streams are small, a few are not.
std::size_t size_for(Random& random) {
  return static_cast<std::size_t>(random.chance(2) ? random.in(400, 5000) : random.in(1, random.chance(50) ? 60 : 400));
}

class FoldRandom : public testing::TestWithParam<Variant> {};

INSTANTIATE_TEST_SUITE_P(Variants, FoldRandom, testing::ValuesIn(kVariants),
                         [](const auto& info) { return std::string(variant_name(info.param)); });

TEST_P(FoldRandom, StreamsAreFoldedAsTheContractSays) {
  std::map<Kind, std::size_t> kinds;
  const std::uint64_t from = first_seed();
  for (std::uint64_t seed = from; seed < from + streams(2000); ++seed) {
    Random random(seed ^ 0xf01d);
    const Stream stream = random_stream(seed, size_for(random));
    Trial trial{{GetParam(), 16}, kNever};
    if (random.chance(15)) trial.options.max_pieces = static_cast<std::uint32_t>(random.in(1, 40));
    if (random.chance(5)) trial.give_up_at = static_cast<std::size_t>(random.in(0, std::ssize(stream.points)));
    const std::optional<Complaint> complaint = first_complaint(stream, trial);
    if (!complaint) continue;
    if (++kinds[complaint->kind] <= kMostShown) ADD_FAILURE() << report(stream, trial, *complaint, seed);
  }
  for (const auto& [kind, count] : kinds) ADD_FAILURE() << count << " streams: " << kind_name(kind);
}

/// The smallest streams of failures that were found like this.
TEST_P(FoldRandom, StreamsThatOnceFailed) {
  const Stream failed[] = {
      {{1, 1, 0}, {{{0}, {6}}, {{1}, {5}}, {{2}, {5}}, {{3}, {4}}, {{5}, {2}}, {{8}, {0}}}, "a stride, almost"},
      {{1, 1, 0}, {{{0}, {1}}, {{1}, {1}}, {{2}, {2}}, {{3}, {2}}, {{4}, {0}}}, "two rows and a point"},
      {{2, 0, 0}, {{{0, 0}, {}}, {{0, 1}, {}}, {{0, 3}, {}}, {{0, 4}, {}}, {{1, 0}, {}}, {{1, 2}, {}}}, "two breaks"},
      {{1, 1, 0}, {{{0}, {1}}, {{1}, {0}}, {{2}, {2}}, {{3}, {1}}}, "the same difference twice"},
      {{1, 0, 0}, {{{0}, {}}, {{2}, {}}, {{3}, {}}, {{4}, {}}, {{6}, {}}, {{18}, {}}, {{19}, {}}, {{20}, {}}}, "gaps"},
      {{2, 1, 0}, {{{0, 0}, {0}}, {{1, 0}, {0}}, {{0, 2}, {-1}}}, "back to an earlier row"},
      {{2, 1, 0},
       {{{0, 0}, {67}}, {{0, 1}, {71}}, {{0, 2}, {77}}, {{1, 0}, {68}}, {{1, 1}, {99}}, {{1, 2}, {12}}},
       "rows"},
  };
  for (const Stream& stream : failed) {
    const std::optional<Complaint> complaint = first_complaint(stream, {{GetParam(), 16}, kNever});
    EXPECT_FALSE(complaint) << stream.what << ": " << complaint->text;
  }
}

TEST_P(FoldRandom, PartsAreUnited) {
  std::map<Kind, std::size_t> kinds;
  const std::uint64_t from = first_seed();
  for (std::uint64_t seed = from; seed < from + streams(300); ++seed) {
    Random random(seed ^ 0x7e4d);
    const Stream stream = random_stream(seed, size_for(random));
    if (stream.shape.dimensions == 0 || !in_order(stream)) continue;
    const std::int64_t threads = random.in(2, 6);
    std::map<std::int64_t, Stream> parts;
    for (const Labelled& labelled : stream.points) {
      Stream& part = parts[static_cast<std::int64_t>(static_cast<std::uint64_t>(labelled.point[0])) % threads];
      part.shape = stream.shape;
      part.points.push_back(labelled);
    }
    std::vector<Folded> folded;
    for (const auto& [thread, part] : parts) folded.push_back(fold_stream(part, {GetParam(), 16}));
    const Folded united = unite(std::move(folded), stream.shape);
    const std::vector<Complaint> complaints = check(stream, united);
    if (complaints.empty() || ++kinds[complaints.front().kind] > kMostShown) continue;
    ADD_FAILURE() << "seed " << seed << ", " << threads << " parts: " << kind_name(complaints.front().kind) << ": "
                  << complaints.front().text << "\n"
                  << (stream.points.size() < 60 ? literal(stream) : stream.what) << "\n"
                  << text(united);
  }
  for (const auto& [kind, count] : kinds) ADD_FAILURE() << count << " streams: " << kind_name(kind);
}

/// How many pieces more than the fewest possible, over all streams that stay exact.
TEST_P(FoldRandom, TinyStreamsAreNearTheFewestPieces) {
  std::size_t pieces = 0;
  std::size_t fewest = 0;
  std::size_t naive = 0;
  const std::uint64_t from = first_seed();
  for (std::uint64_t seed = from; seed < from + streams(400); ++seed) {
    const Stream stream = tiny_stream(seed);
    const Folded folded = fold_stream(stream, {GetParam(), 16});
    const std::vector<Complaint> complaints = check(stream, folded);
    ASSERT_TRUE(complaints.empty()) << complaints.front().text << "\n" << literal(stream) << "\n" << text(folded);
    if (!folded.exact()) continue;
    pieces += folded.pieces.size();
    fewest += fewest_pieces(stream);
    naive += fold_naively(stream).pieces.size();
  }
  fmt::print("{}: {} pieces, {} at least, {} rows\n", variant_name(GetParam()), pieces, fewest, naive);
  EXPECT_LE(pieces * 100, fewest * (GetParam() == Variant::kAuto ? 105 : 125));
}

}  // namespace

}  // namespace loopfold::fold::reference
