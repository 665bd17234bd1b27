// Nests as text: the C runs, isl counts the points, and splitting loops changes nothing.
#include "reconstruct/text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reconstruct/deepen.h"

namespace loopfold::reconstruct {

namespace {

std::vector<std::uint64_t> all(const Nest& nest) {
  std::vector<std::uint64_t> addresses;
  for_each_row(nest, [&](const Run& row) {
    for (std::uint64_t i = 0; i < row.count; ++i)
      addresses.push_back(row.start + static_cast<std::uint64_t>(row.stride) * i);
  });
  return addresses;
}

/// Compiles and runs the C loops; what they access.
std::vector<std::uint64_t> run_c(const std::string& loops) {
  const std::filesystem::path stem =
      std::filesystem::temp_directory_path() / ("loopfold_text_" + std::to_string(::getpid()));
  const std::string source = stem.string() + ".c";
  std::ofstream(source)
      << "#include <stdio.h>\nstatic void access(unsigned long a) { printf(\"%lu\\n\", a); }\nint main(void) {\n"
      << loops << "return 0; }\n";
  std::vector<std::uint64_t> addresses;
  if (std::system(("cc -w -o " + stem.string() + " " + source).c_str()) != 0) return addresses;
  std::FILE* const pipe = ::popen(stem.c_str(), "r");
  unsigned long address = 0;
  while (std::fscanf(pipe, "%lu", &address) == 1) addresses.push_back(address);
  ::pclose(pipe);
  std::filesystem::remove(stem);
  std::filesystem::remove(source);
  return addresses;
}

const Nest kTriangle{4096, 15, {800, -8}, {4, 0}, {-1, 0, 1, -1}};
const Nest kEmptying{0, 0, {100, 10, 1}, {9, 3, 4}, {-1, 0, 0, 0, -1, 0, -1, -1, -1}};

TEST(ReconstructText, CRunsAndAccessesTheSame) {
  for (const Nest& nest : {kTriangle, kEmptying, Nest{7, 1, {}, {}, {}}}) EXPECT_EQ(run_c(to_c(nest, "  ")), all(nest));
}

TEST(ReconstructText, CReadsLikeAPersonWroteIt) {
  EXPECT_EQ(to_c(kTriangle, ""),
            "for (long i0 = 0; i0 <= 4; i0++)\n"
            "  for (long i1 = 0; i1 <= i0; i1++)\n"
            "    access(0x1000 + 800*i0 - 8*i1);\n");
}

TEST(ReconstructText, IslIsDomainAccessAndSchedule) {
  const IslText isl = to_isl(kTriangle, "S");
  EXPECT_EQ(isl.domain, "{ S[i0, i1] : 0 <= i0 <= 4 and 0 <= i1 <= i0 }");
  EXPECT_EQ(isl.access, "{ S[i0, i1] -> memory[4096 + 800*i0 - 8*i1] }");
  EXPECT_EQ(isl.schedule, "{ S[i0, i1] -> [i0, i1] }");
  EXPECT_NE(to_isl(kEmptying, "S").domain.find("4 >= 0"), std::string::npos);
}

TEST(ReconstructText, JsonIsWhatTheContractSays) {
  Instruction instruction(0x401000, ReadOptions{});
  for (std::uint64_t i = 0; i < 20; ++i)
    for (std::uint64_t j = 0; j <= i; ++j) instruction.add(1000 * i + 8 * j);
  instruction.flush();
  instruction.loops.finish();
  const nlohmann::json document = nlohmann::json::parse(json_text({&instruction}));
  const nlohmann::json& one = document.at("instructions").at(0);
  EXPECT_EQ(one.at("ip"), 0x401000);
  EXPECT_EQ(one.at("accesses"), 210);
  EXPECT_EQ(one.at("levels"), 2);
  EXPECT_EQ(one.at("coverage"), 1.0);
  EXPECT_GT(one.at("predicted_single_stride"), 0.95);
  const nlohmann::json& piece = one.at("pieces").at(0);
  EXPECT_EQ(piece.at("bounds").at("U"), nlohmann::json::parse("[[-1, 0], [1, -1]]"));
  EXPECT_EQ(piece.at("bounds").at("w"), nlohmann::json::parse("[19, 0]"));
  EXPECT_EQ(piece.at("coefficients"), nlohmann::json::parse("[1000, 8]"));
  EXPECT_EQ(piece.at("count"), 210);
}

TEST(ReconstructDeepen, SplitsAsHintsSay) {
  const Nest flat{0, 60, {8}, {59}, {-1}};
  const Nest deep = deepened(flat, 2, {7, 12});
  EXPECT_EQ(deep.w, (std::vector<std::int64_t>{4, 11}));
  EXPECT_EQ(deep.coefficients, (std::vector<std::int64_t>{96, 8}));
  EXPECT_EQ(all(deep), all(flat));
  EXPECT_EQ(all(deepened(flat, 4, {})), all(flat));
  EXPECT_EQ(deepened(flat, 4, {}).levels(), 4U);
}

TEST(ReconstructDeepen, LeavesWhatCannotBeSplit) {
  EXPECT_EQ(deepened(kTriangle, 5, {}), kTriangle);
  const Nest prime{0, 59, {8}, {58}, {-1}};
  EXPECT_EQ(deepened(prime, 2, {}), prime);
}

TEST(ReconstructDeepen, KeepsBoundsThatDependOnOtherLoops) {
  const Nest nest{0, 0, {10000, 100, 1}, {3, 11, 0}, {-1, 0, 0, 0, -1, 0, 1, 0, -1}};
  const Nest deep = deepened(nest, 4, {});
  EXPECT_EQ(deep.levels(), 4U);
  EXPECT_EQ(all(deep), all(nest));
}

}  // namespace

}  // namespace loopfold::reconstruct
