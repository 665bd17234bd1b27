#include "views/html_report.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "views/advice_testing.h"
#include "views/html_region.h"
#include "views/html_tree.h"

namespace loopfold::views {
namespace {

using nlohmann::json;
using profile::Profile;
using testing::product_profile;

std::string from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  for (std::size_t i = 0; i + 3 < text.size(); i += 4) {
    std::uint32_t group = 0;
    int padding = 0;
    for (std::size_t j = 0; j < 4; j++) {
      const std::size_t digit = digits.find(text[i + j]);
      if (digit == std::string::npos) padding++;
      group = group << 6 | (digit == std::string::npos ? 0 : static_cast<std::uint32_t>(digit));
    }
    for (int j = 0; j < 3 - padding; j++) bytes += static_cast<char>(group >> (16 - 8 * j) & 255);
  }
  return bytes;
}

std::string unzipped(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(std::size_t{1} << 24, '\0');
  std::string input = packed;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

json document_of(const std::vector<PagePart>& parts, const std::string& name) {
  for (const PagePart& part : parts)
    if (part.name == name) return json::parse(unzipped(from_base64(part.packed)));
  return nullptr;
}

TEST(HtmlPage, base64_is_that_of_the_standard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(HtmlPage, parts_unpack_to_what_went_in) {
  std::mt19937 random(3);
  for (std::size_t size : {0, 1, 2, 3, 1000, 100000}) {
    std::string text;
    for (std::size_t i = 0; i < size; i++) text += static_cast<char>(random() % 256);
    EXPECT_EQ(unzipped(from_base64(page_part("x", text).packed)), text);
  }
}

TEST(HtmlPage, the_same_parts_give_the_same_bytes) {
  EXPECT_EQ(page_part("x", "some text").packed, page_part("x", "some text").packed);
}

TEST(HtmlPage, without_a_template_the_error_says_what_to_do) {
  const Result<std::string> page = html_page("title", {}, "");
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().kind, ErrorKind::kEnvironment);
  EXPECT_NE(page.error().message.find("Node.js"), std::string::npos);
  EXPECT_NE(page.error().message.find("scripts/setup"), std::string::npos);
  EXPECT_EQ(page.error().message.find('\n'), std::string::npos);
}

TEST(HtmlPage, names_cannot_leave_their_place) {
  if (page_template().empty()) GTEST_SKIP() << "built without the page";
  const Result<std::string> page = html_page("</title><script>alert(1)</script>", {page_part("main", "</script>")});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->find("</title><script>"), std::string::npos);
  EXPECT_EQ(page->find("<!--loopfold:"), std::string::npos);
}

TEST(HtmlReport, main_has_what_is_shown_first) {
  const json main = document_of(report_parts(product_profile(), {}), "main");
  EXPECT_EQ(main["kind"], "report");
  EXPECT_EQ(main["regions"].size(), 2);
  EXPECT_EQ(main["regions"][0]["where"], "product.c:12");
  EXPECT_EQ(main["regions"][1]["why_not"].empty(), false);
  EXPECT_EQ(main["suggestions"][0]["rule"], "LF-PAR") << "the greatest gain first";
  EXPECT_EQ(main["suggestions"][0]["requires"].size(), 2);
  EXPECT_EQ(main["suggestions"][1]["legal"], "yes");
  EXPECT_EQ(main["tree_nodes"], 6);
}

TEST(HtmlReport, a_region_has_its_statements_accesses_and_flow) {
  const json region = document_of(report_parts(product_profile(), {}), "region-0");
  EXPECT_EQ(region["loops"].size(), 3);
  EXPECT_EQ(region["loops"][2]["verdict"], "reduction(+)");
  EXPECT_EQ(region["statements"].size(), 2);
  EXPECT_EQ(region["accesses"].size(), 5);
  EXPECT_EQ(region["accesses"][2]["strides"],
            json::parse(R"([["stays","near"],["next element","near"],["+32 bytes","far"]])"));
  EXPECT_EQ(region["dependences"].size(), 2);
  EXPECT_EQ(region["objects"].size(), 3);
  EXPECT_EQ(region["files"].size(), 1);
  EXPECT_EQ(region["transformed"]["bands"].size(), 2);
  EXPECT_EQ(region["left_out"]["statements"], 0);
}

TEST(HtmlReport, what_does_not_fit_is_left_out_and_counted) {
  const Profile profile = product_profile();
  RegionLimits limits;
  limits.statements = 1;
  limits.accesses = 2;
  const json region = json::parse(region_document(ReportWords(profile), profile.regions[0], {".", {}}, limits).dump());
  EXPECT_EQ(region["statements"].size(), 1);
  EXPECT_EQ(region["left_out"]["statements"], 1);
  EXPECT_LE(region["accesses"].size(), 2);
  EXPECT_LE(region["dependences"].size(), 1) << "both ends have to be there";
  HtmlOptions options;
  options.most_bytes = 1;
  EXPECT_EQ(document_of(report_parts(profile, options), "region-0"), nullptr);
}

TEST(HtmlReport, source_lines_are_those_that_are_spoken_of) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("loopfold_html_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  {
    std::ofstream file(folder / "product.c");
    for (int line = 1; line <= 100; line++) file << "line " << line << "\n";
  }
  HtmlOptions options;
  options.source_directory = folder.string();
  const json region = document_of(report_parts(product_profile(), options), "region-0");
  std::filesystem::remove_all(folder);
  const json& runs = region["files"][0]["runs"];
  ASSERT_EQ(runs.size(), 1);
  EXPECT_EQ(runs[0]["first"], 9);
  EXPECT_EQ(runs[0]["lines"][0], "line 9");
  EXPECT_EQ(runs[0]["lines"].size(), 11) << "12 to 16, and three around";
}

TEST(HtmlTree, columns_are_the_tree) {
  const Profile profile = product_profile();
  const json tree = document_of(report_parts(profile, {}), "tree");
  const json& columns = tree["columns"];
  ASSERT_EQ(tree["nodes"], profile.tree.size());
  for (std::size_t i = 0; i < profile.tree.size(); i++) {
    EXPECT_EQ(columns["ops"][i], profile.tree[i].ops);
    if (profile.tree[i].parent) {
      EXPECT_EQ(i - columns["parent"][i].get<std::size_t>(), *profile.tree[i].parent);
    }
  }
  EXPECT_EQ(tree["strings"][columns["name"][2].get<std::size_t>()], "loop product.c:12");
  EXPECT_EQ(columns["region"][2], 1);
}

TEST(HtmlTree, what_is_kept_is_a_tree_of_the_hottest) {
  std::mt19937 random(11);
  for (int i = 0; i < 30; i++) {
    const Profile profile = testing::random_profile(random, 300);
    const std::vector<std::uint32_t> kept = kept_nodes(profile, 40);
    ASSERT_EQ(kept.size(), 40);
    std::vector<bool> is_kept(profile.tree.size());
    for (const std::uint32_t node : kept) is_kept[node] = true;
    std::uint64_t least = UINT64_MAX;
    for (const std::uint32_t node : kept) {
      if (profile.tree[node].parent) {
        EXPECT_TRUE(is_kept[*profile.tree[node].parent]);
      }
      least = std::min(least, profile.tree[node].ops);
    }
    for (std::size_t node = 0; node < is_kept.size(); node++) {
      EXPECT_TRUE(is_kept[node] || profile.tree[node].ops <= least);
    }
  }
}

TEST(HtmlReport, any_names_make_documents) {
  std::mt19937 random(5);
  for (int i = 0; i < 30; i++) {
    const Profile profile = testing::random_profile(random, 60);
    const std::vector<PagePart> parts = report_parts(profile, {});
    EXPECT_EQ(document_of(parts, "main")["kind"], "report");
    EXPECT_EQ(document_of(parts, "tree")["nodes"], profile.tree.size());
  }
}

}  // namespace
}  // namespace loopfold::views
