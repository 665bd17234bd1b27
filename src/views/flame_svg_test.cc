#include "views/flame_svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "support/utf8.h"
#include "views/testing.h"
#include "views/words.h"

namespace loopfold::views {
namespace {

using profile::Profile;

std::string text_of(const Profile& profile) {
  std::string text;
  EXPECT_TRUE(write_flame_svg(profile, [&](std::string_view piece) {
    text += piece;
    return true;
  }));
  return text;
}

/// An element of a document, with what stands in it up to its first child.
struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
};

/// Reads well-formed XML of the kind that we write; anything else is a failure.
class XmlReader {
 public:
  explicit XmlReader(const std::string& text) : text_(text) {}

  std::vector<Element> read() {
    EXPECT_EQ(valid_utf8(text_), text_);
    expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    do {
      if (at_ >= text_.size()) return broken("no end");
      const bool fine = starts("</") ? close() : starts("<![CDATA[") ? skip_cdata() : starts("<") ? open() : content();
      if (!fine) return broken("not well-formed");
    } while (!open_.empty());
    EXPECT_EQ(text_.substr(at_), "\n");
    return std::move(elements_);
  }

 private:
  std::vector<Element> broken(const char* what) {
    ADD_FAILURE() << what << " at " << at_ << ": " << text_.substr(at_, 80);
    return {};
  }
  bool starts(std::string_view wanted) const { return text_.compare(at_, wanted.size(), wanted) == 0; }
  void expect(std::string_view wanted) {
    EXPECT_TRUE(starts(wanted));
    at_ += wanted.size();
  }
  std::string name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-'))
      at_++;
    return text_.substr(start, at_ - start);
  }
  bool close() {
    at_ += 2;
    const bool same = !open_.empty() && name() == elements_[open_.back()].name && starts(">");
    at_++;
    if (same) open_.pop_back();
    return same;
  }
  bool skip_cdata() {
    at_ = text_.find("]]>", at_);
    if (at_ == std::string::npos) return false;
    at_ += 3;
    return true;
  }
  bool open() {
    at_++;
    Element element{name(), {}, ""};
    while (starts(" ")) {
      at_++;
      const std::string key = name();
      if (!starts("=\"") || element.attributes.count(key) != 0) return false;
      at_ += 2;
      std::string value;
      while (at_ < text_.size() && text_[at_] != '"') {
        if (text_[at_] == '<' || !character(value)) return false;
      }
      at_++;
      element.attributes[key] = value;
    }
    elements_.push_back(element);
    if (starts("/>")) {
      at_ += 2;
      return true;
    }
    open_.push_back(elements_.size() - 1);
    const bool fine = starts(">");
    at_++;
    return fine;
  }
  bool content() {
    if (open_.empty()) return false;
    if (elements_[open_.back()].name == "style") {
      at_ = text_.find('<', at_);
      return true;
    }
    return character(elements_[open_.back()].text);
  }
  /// One character or entity.
  bool character(std::string& into) {
    static const std::map<std::string, std::string> kEntities = {
        {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}};
    if (text_[at_] == '&') {
      for (const auto& [entity, meaning] : kEntities) {
        if (!starts(entity)) continue;
        into += meaning;
        at_ += entity.size();
        return true;
      }
      return false;
    }
    const Utf8Character c = decode_utf8(text_, at_);
    if (c.point < 0x20 && c.point != '\n') return false;
    into += text_.substr(at_, c.bytes);
    at_ += c.bytes;
    return true;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::vector<Element> elements_;
  std::vector<std::size_t> open_;
};

struct Frame {
  std::map<std::string, std::string> attributes;
  std::string title;
  std::map<std::string, std::string> rect;
  std::string label;
};

std::vector<Frame> frames_of(const std::vector<Element>& elements) {
  std::vector<Frame> frames;
  for (std::size_t i = 0; i + 3 < elements.size(); i++) {
    if (elements[i].attributes.count("data-a") == 0) continue;
    EXPECT_EQ(elements[i + 1].name, "title");
    EXPECT_EQ(elements[i + 2].name, "rect");
    EXPECT_EQ(elements[i + 3].name, "text");
    frames.push_back({elements[i].attributes, elements[i + 1].text, elements[i + 2].attributes, elements[i + 3].text});
  }
  return frames;
}

std::vector<Frame> frames_of(const std::string& text) { return frames_of(XmlReader(text).read()); }

TEST(FlameSvg, names_stay_inside_text_and_attributes) {
  const std::set<std::string> elements = {"svg", "style", "rect", "g", "title", "text", "script"};
  const std::set<std::string> attributes = {
      "xmlns",  "class",  "width",  "height",    "viewBox",    "data-head",  "data-foot", "data-controls",
      "x",      "y",      "rx",     "transform", "aria-label", "data-a",     "data-w",    "data-l",
      "data-p", "data-n", "data-m", "data-s",    "data-t",     "data-legend"};
  std::mt19937 random(1);
  for (int round = 0; round < 60; round++) {
    const Profile profile = testing::random_profile(random, 60);
    const std::string text = text_of(profile);
    std::size_t scripts = 0;
    for (const Element& element : XmlReader(text).read()) {
      EXPECT_TRUE(elements.contains(element.name)) << element.name;
      scripts += element.name == "script" ? 1 : 0;
      for (const auto& [name, value] : element.attributes) EXPECT_TRUE(attributes.contains(name)) << name;
    }
    EXPECT_EQ(scripts, 1u);
    EXPECT_EQ(text.find("<script>alert"), std::string::npos);
  }
}

TEST(FlameSvg, every_hostile_name_comes_through_as_text) {
  testing::TreeBuilder tree({"x"});
  for (const std::string& name : testing::hostile_names()) {
    tree.call(name, std::nullopt, std::nullopt, 1, 100);
    tree.close();
  }
  const Profile profile = tree.finish();
  const Words words(profile);
  const std::vector<Frame> frames = frames_of(text_of(profile));
  ASSERT_EQ(frames.size(), profile.tree.size());
  for (std::size_t i = 0; i < frames.size(); i++) {
    EXPECT_EQ(frames[i].attributes.at("data-n"), words.frame(profile.tree[i]));
    EXPECT_TRUE(frames[i].title.starts_with(words.frame(profile.tree[i])));
  }
}

TEST(FlameSvg, frames_stand_on_their_parents) {
  std::mt19937 random(2);
  for (int round = 0; round < 40; round++) {
    const Profile profile = round == 0 ? testing::solver_profile() : testing::random_profile(random, 100);
    const std::vector<Frame> frames = frames_of(text_of(profile));
    const double whole = std::stod(frames[0].attributes.at("data-w"));
    for (std::size_t i = 0; i < frames.size(); i++) {
      const auto number = [&](const char* name) { return std::stod(frames[i].rect.at(name)); };
      const double width = std::stod(frames[i].attributes.at("data-w")) / std::max(whole, 1.0) * 1176;
      if (i > 0) {
        EXPECT_GE(width, 0.099);
      }
      if (i > 0) {
        EXPECT_NEAR(number("width"), std::max(width - 1, width / 2), 0.02);
      }
      EXPECT_NEAR(number("x"), 12 + std::stod(frames[i].attributes.at("data-a")) / std::max(whole, 1.0) * 1176, 0.02);
      if (i == 0) continue;
      const Frame& below = frames[std::stoul(frames[i].attributes.at("data-p"))];
      EXPECT_EQ(number("y") + 20, std::stod(below.rect.at("y")));
      EXPECT_GE(number("x") + 0.02, std::stod(below.rect.at("x")));
    }
  }
}

TEST(FlameSvg, narrow_frames_are_counted) {
  const Profile profile = testing::solver_profile();
  const std::string text = text_of(profile);
  const std::size_t drawn = frames_of(text).size();
  EXPECT_LT(drawn, profile.tree.size());
  const std::string note = std::to_string(profile.tree.size() - drawn) + " frames (";
  EXPECT_NE(text.find("Not drawn, since too narrow: " + note), std::string::npos);
  EXPECT_EQ(text_of(testing::wide_profile(10)).find("Not drawn"), std::string::npos);
  EXPECT_EQ(frames_of(text_of(testing::wide_profile(50000))).size(), 1u);
}

TEST(FlameSvg, facts_and_kinds) {
  const std::vector<Frame> frames = frames_of(text_of(testing::solver_profile()));
  const auto find = [&](const std::string& name) {
    const auto has = [&](const Frame& frame) { return frame.attributes.at("data-n") == name; };
    const auto found = std::find_if(frames.begin(), frames.end(), has);
    EXPECT_NE(found, frames.end()) << name;
    return found == frames.end() ? frames[0] : *found;
  };
  const Frame loop = find("loop solver.c:24 ×300");
  EXPECT_EQ(loop.title,
            "loop solver.c:24 ×300\n189,000,000 (67.8 %) instructions, 189,000,000 (67.8 %) its own\n"
            "entered 90,000 times, 27,000,000 iterations in all\n63,000,000 access memory, 37,800,000 floating-point\n"
            "/home/me/solver/solver.c:24, in matmul, solver+0x11b0");
  EXPECT_EQ(loop.label, "loop solver.c:24 ×300  67.8 %");
  EXPECT_TRUE(loop.attributes.at("class").starts_with("loop "));
  EXPECT_TRUE(loop.rect.contains("rx"));
  const Frame call = find("matmul");
  EXPECT_TRUE(call.attributes.at("class").starts_with("call "));
  EXPECT_FALSE(call.rect.contains("rx"));
  EXPECT_TRUE(find("recursion tree_sum ×16,382").attributes.at("class").starts_with("recursion "));
  EXPECT_TRUE(find("irreducible loop solver.c:94 ×10,000").attributes.at("class").ends_with(" irreducible"));
  EXPECT_TRUE(find("thread worker").attributes.at("class").ends_with(" origin"));
}

TEST(FlameSvg, a_partial_run_is_said_to_be_one) {
  Profile profile = testing::solver_profile();
  EXPECT_EQ(text_of(profile).find("partial"), std::string::npos);
  profile.program.partial = true;
  EXPECT_NE(text_of(profile).find(">partial: the end of the run is missing<"), std::string::npos);
}

TEST(FlameSvg, needs_nothing_else_and_is_the_same_every_time) {
  const std::string text = text_of(testing::solver_profile());
  EXPECT_EQ(text_of(testing::solver_profile()), text);
  std::size_t addresses = 0;
  for (std::size_t at = text.find("http"); at != std::string::npos; at = text.find("http", at + 1), addresses++)
    EXPECT_EQ(text.compare(at, 18, "http://www.w3.org/"), 0) << text.substr(at, 60);
  EXPECT_GT(addresses, 0u);
  for (const char* outside : {"href", "url(", "@import", "innerHTML", "eval("})
    EXPECT_EQ(text.find(outside), std::string::npos);
}

TEST(FlameSvg, odd_trees_are_no_trouble) {
  EXPECT_EQ(frames_of(text_of(testing::TreeBuilder({}).finish())).size(), 1u);
  EXPECT_EQ(frames_of(text_of(testing::deep_profile(10000))).size(), 10001u);
  EXPECT_TRUE(frames_of(text_of(Profile{})).empty());
}

TEST(FlameSvg, stops_when_nothing_can_be_written) {
  int pieces = 0;
  EXPECT_FALSE(write_flame_svg(testing::deep_profile(1000), [&](std::string_view) { return ++pieces < 10; }));
  EXPECT_EQ(pieces, 10);
}

}  // namespace
}  // namespace loopfold::views
