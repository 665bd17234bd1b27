// A made-up profile with everything in it, for tests of what is said of transformations: a matrix product, judged, with
// a schedule and suggestions; a loop that carries a dependence; and a region that was given up on.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "views/testing.h"
#include "views/text.h"

namespace loopfold::views::testing {

using profile::Loop;
using profile::Region;
using profile::Statement;
using profile::Suggestion;
using profile::Transformed;

inline Source product_line(int line) { return {"/home/me/src/product.c", line}; }

inline Loop judged_loop(const Profile& profile, std::uint32_t node, Loop::Parallel parallel, std::uint32_t depth) {
  Loop loop;
  loop.node = node;
  loop.nodes = {node};
  loop.source = profile.tree[node].source;
  loop.function = profile.tree[node].function;
  loop.depth = depth;
  loop.trip = {profile.tree[node].trip.min, profile.tree[node].trip.max,
               static_cast<double>(profile.tree[node].trip.max)};
  loop.ops_percent = percent_of(profile.tree[node].ops, profile.tree[0].ops);
  loop.parallel = parallel;
  loop.reuse = Loop::Reuse::kNone;
  return loop;
}

inline Statement statement_at(std::uint32_t id, std::uint32_t node, std::vector<std::optional<std::uint32_t>> loops,
                              std::string domain, int line) {
  Statement statement;
  statement.id = id;
  statement.name = "S" + std::to_string(id);
  statement.node = node;
  statement.loops = std::move(loops);
  statement.domain = std::move(domain);
  statement.exact = true;
  statement.source = {product_line(line)};
  return statement;
}

inline profile::Access access_of(std::uint32_t statement, profile::Access::Kind kind, std::uint32_t object,
                                 std::vector<profile::Coefficient> coefficients, int line, std::uint64_t count) {
  profile::Access access;
  access.statement = statement;
  access.kind = kind;
  access.size = 8;
  access.object = object;
  access.block_coefficients.assign(coefficients.size(), 0);
  access.coefficients = std::move(coefficients);
  access.constant = access.block_constant = 0;
  access.affine = access.exact = true;
  access.source = product_line(line);
  access.count = count;
  return access;
}

inline profile::Dependence flow_of(std::uint32_t from, std::uint32_t to, profile::Dependence::Kind kind,
                                   std::string map, std::optional<std::uint32_t> carried, std::uint64_t count) {
  profile::Dependence flow;
  flow.from = from;
  flow.to = to;
  flow.kind = kind;
  flow.map = std::move(map);
  flow.affine = flow.exact = true;
  flow.carried = {{carried, count}};
  flow.count = count;
  flow.uses = {{}};
  return flow;
}

/// Of node 2 with 3 and 4 inside: c[i][j] = 0 (S0), then c[i][j] += a[i][k] * b[k][j] (S1), each of 4 iterations.
inline Region product_region(const Profile& profile) {
  Region region;
  region.id = 0;
  region.node = 2;
  region.source = product_line(12);
  region.function = "product";
  region.ops_percent = percent_of(profile.tree[2].ops, profile.tree[0].ops);
  region.mem_percent = 40;
  region.fp_percent = 20;
  region.affine_percent = 100;
  region.vertices = 2;
  region.edges = 2;
  region.depth_binary = region.depth_source = 3;
  region.static_obstacles = {"A"};
  region.loops = {judged_loop(profile, 2, Loop::Parallel::kYes, 0), judged_loop(profile, 3, Loop::Parallel::kYes, 1),
                  judged_loop(profile, 4, Loop::Parallel::kReduction, 2)};
  region.loops[2].reductions = {{"+", "c", true, false, product_line(15)}};
  region.loops[2].assumes = {{product_line(16)}};
  Transformed& to = region.transformed.emplace();
  to.status = Transformed::Status::kFound;
  to.parallel_ops_percent = 100;
  to.simd_ops_percent = 60;
  to.reuse_percent = 75;
  to.potential_reuse_percent = 100;
  to.tile_depth = 3;
  to.tilable_ops_percent = 90;
  to.interchange = {{3, 4}};
  to.fusion = Transformed::Fusion::kSmart;
  to.components_before = 2;
  to.components_after = 1;
  to.schedule = "{ S0[i0, i1] -> [i0, 0, 0, i1]; S1[i0, i1, i2] -> [i0, 1, i2, i1] }";
  to.bands = {{0, {0, 1}, {{{{2, 1}}, Loop::Parallel::kYes}}},
              {2, {1}, {{{{4, 1}}, Loop::Parallel::kNo}, {{{3, 1}}, Loop::Parallel::kYes}}}};
  to.steps = {"interchange product.c:13 and product.c:14"};
  to.ast_before = "for product.c:12\n  for product.c:13\n    for product.c:14\n";
  to.ast = "for product.c:12\n  for product.c:14\n    for product.c:13  [vector]\n";
  Suggestion interchange;
  interchange.rule = "LF-ICH";
  interchange.title = "Interchange product.c:13 and product.c:14";
  interchange.where = {product_line(13), product_line(14)};
  interchange.legal = Suggestion::Legal::kYes;
  interchange.gain = 1.5;
  interchange.estimate = "cache lines touched";
  interchange.evidence = {"2 dependences checked"};
  interchange.loops = {3, 4};
  Suggestion parallel;
  parallel.rule = "LF-PAR";
  parallel.title = "Run product.c:12 in parallel";
  parallel.where = {product_line(12)};
  parallel.gain = 3.25;
  parallel.requirements = {{"private", "tmp", 2, "private(tmp)", std::nullopt}, {"expand", "row", 2, "", 4096}};
  parallel.loops = {2};
  region.suggestions = {parallel, interchange};
  return region;
}

/// Of node 5: x[i] = x[i - 1], no schedule within the budget unless asked for.
inline Region chain_region(const Profile& profile) {
  Region region;
  region.id = 1;
  region.node = 5;
  region.source = product_line(20);
  region.function = "main";
  region.ops_percent = percent_of(profile.tree[5].ops, profile.tree[0].ops);
  region.mem_percent = 20;
  region.affine_percent = 50;
  region.vertices = 1;
  region.edges = 1;
  region.interprocedural = true;
  region.depth_binary = region.depth_source = 1;
  region.static_obstacles = {"R", "F"};
  region.loops = {judged_loop(profile, 5, Loop::Parallel::kNo, 0)};
  profile::Blocking blocking;
  blocking.source_from = product_line(21);
  blocking.source_to = product_line(22);
  blocking.object = 3;
  blocking.distance = 1;
  blocking.count = 9;
  blocking.kind = profile::Blocking::Kind::kMemory;
  blocking.text = "product.c:22 reads what product.c:21 wrote 1 iteration before: x (9 times)";
  region.loops[0].blocking = {blocking};
  region.transformed.emplace().status = Transformed::Status::kGaveUp;
  region.transformed->why = "the budget was used up";
  return region;
}

inline Profile product_profile() {
  using profile::Access;
  using profile::Dependence;
  TreeBuilder tree({"./product"});
  tree.call("main", product_line(1), std::nullopt, 1, 10);
  tree.loop(product_line(12), 1, 4, 10);
  tree.loop(product_line(13), 4, 4, 10);
  tree.loop(product_line(14), 16, 4, 10);
  tree.close(3);
  tree.loop(product_line(20), 1, 10, 10);
  tree.close(2);
  Profile profile = tree.finish();
  profile.folded = profile.judged = true;
  profile.regions_min_percent = 1;
  const char* const names[] = {"a", "b", "c", "x"};
  for (std::uint32_t id = 0; id < 4; id++)
    profile.objects.push_back({id, profile::Object::Kind::kGlobal, names[id], "", 128, 1, std::nullopt});
  profile.statements = {
      statement_at(0, 3, {2, 3}, "{ S0[i0, i1] : 0 <= i0 <= 3 and 0 <= i1 <= 3 }", 13),
      statement_at(1, 4, {2, 3, 4}, "{ S1[i0, i1, i2] : 0 <= i0 <= 3 and 0 <= i1 <= 3 and 0 <= i2 <= 3 }", 15),
      statement_at(2, 5, {5}, "{ S2[i0] : 0 <= i0 <= 9 }", 21)};
  profile.accesses = {access_of(0, Access::Kind::kStore, 2, {32, 8}, 13, 16),
                      access_of(1, Access::Kind::kLoad, 0, {32, 0, 8}, 15, 64),
                      access_of(1, Access::Kind::kLoad, 1, {0, 8, 32}, 15, 64),
                      access_of(1, Access::Kind::kLoad, 2, {32, 8, 0}, 15, 64),
                      access_of(1, Access::Kind::kStore, 2, {32, 8, 0}, 15, 64),
                      access_of(2, Access::Kind::kLoad, 3, {std::nullopt}, 22, 10)};
  profile.accesses[5].affine = profile.accesses[5].exact = false;
  const auto memory = Dependence::Kind::kMemory;
  profile.dependences = {
      flow_of(0, 1, memory, "{ S0[i0, i1] -> S1[i0, i1, 0] : 0 <= i0 <= 3 and 0 <= i1 <= 3 }", std::nullopt, 16),
      flow_of(1, 1, memory,
              "{ S1[i0, i1, o2] -> S1[i0, i1, i2] : 0 <= i0 <= 3 and 0 <= i1 <= 3 and 1 <= i2 <= 3 and o2 = i2 - 1 }",
              4, 48)};
  profile.regions = {product_region(profile), chain_region(profile)};
  return profile;
}

inline std::vector<const Region*> all_regions(const Profile& profile) {
  std::vector<const Region*> regions;
  for (const Region& region : profile.regions) regions.push_back(&region);
  return regions;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    most = std::max(most, columns(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return most;
}

/// Nothing in it but visible characters and line ends.
inline bool is_inert(const std::string& text, Charset charset) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\n' || (byte >= 0x20 && byte != 0x7f && (charset == Charset::kUnicode || byte < 0x80));
  });
}

/// Any schedule and suggestions for a region, with any names; nodes are those of the tree.
inline void add_random_advice(Profile& profile, Region& region, std::mt19937& random) {
  const auto text = [&] { return random_text(random); };
  const auto node = [&] { return static_cast<std::uint32_t>(random() % profile.tree.size()); };
  const auto percent = [&] { return static_cast<double>(random() % 1001) / 10; };
  if (random() % 4 != 0) {
    Transformed& to = region.transformed.emplace();
    to.status = Transformed::Status(random() % 3);
    to.why = random() % 2 == 0 ? "" : text();
    to.parallel_ops_percent = percent();
    to.simd_ops_percent = percent();
    to.tile_depth = random() % 4;
    to.components_before = random() % 5;
    to.components_after = random() % 5;
    for (std::size_t i = random() % 3; i > 0; i--) to.interchange.push_back({node(), node()});
    for (std::size_t i = random() % 3; i > 0; i--) to.skew.push_back({node(), node(), 3});
    for (std::size_t i = random() % 3; i > 0; i--) to.steps.push_back(text());
    for (std::size_t i = random() % 3; i > 0; i--)
      to.bands.push_back({0, {0}, {{{{node(), 2}}, Loop::Parallel(random() % 4)}, {}}});
    to.ast_before = text() + "\n\t" + text();
    to.ast = text();
  }
  for (std::size_t i = random() % 4; i > 0; i--) {
    Suggestion suggestion;
    suggestion.rule = text();
    suggestion.title = text();
    suggestion.legal = Suggestion::Legal(random() % 3);
    suggestion.gain = percent();
    suggestion.estimate = text();
    suggestion.evidence.resize(random() % 3, text());
    suggestion.loops = {node()};
    if (const std::optional<Source> source = random_source(random)) suggestion.where = {*source, *source};
    const char* const kinds[] = {"private", "expand", "reduction", "reload", "unknown", "other"};
    for (std::size_t k = random() % 3; k > 0; k--)
      suggestion.requirements.push_back({kinds[random() % 6], text(), node(), text(), random()});
    region.suggestions.push_back(suggestion);
  }
}

}  // namespace loopfold::views::testing
