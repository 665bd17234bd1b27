#include "views/flame_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/units.h"
#include "views/flame_assets.h"
#include "views/layout.h"
#include "views/words.h"

namespace loopfold::views {

namespace {

using profile::Profile;
using profile::TreeNode;
using Kind = TreeNode::Kind;

// In pixels, before the script fits the picture to the window.
constexpr double kWidth = 1200;
constexpr double kMargin = 12;
constexpr double kInner = kWidth - 2 * kMargin;
constexpr double kNarrowest = 0.1;  // frame that is drawn
constexpr double kColumn = 7.25;    // one character in a frame
constexpr int kRow = 20;
constexpr int kHeadRow = 17;
constexpr int kFoot = 46;
constexpr std::size_t kMostRemarks = 4;
constexpr std::size_t kHeadColumns = 175;  // of a row in the head

std::string plural(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

/// Of three shades of a colour, one for each name, the same in every graph.
unsigned shade_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return (hash ^ hash >> 16) % 3;
}

std::string_view class_of(Kind kind) {
  switch (kind) {
    case Kind::kRoot:
      return "root";
    case Kind::kCall:
      return "call";
    case Kind::kLoop:
      return "loop";
    case Kind::kRecursion:
      return "recursion";
  }
  return "call";
}

/// What a frame is called, and shorter forms for narrow frames.
struct Labels {
  std::string full;
  std::vector<std::string> shorter;  // each shorter than the one before
};

/// The longest label that fits into so many pixels; if none does, the beginning of the shortest.
std::string fitted(const Labels& labels, const std::string& share, double pixels) {
  const double room = (pixels - 8) / kColumn;
  if (room < 3) return "";
  const auto most = static_cast<std::size_t>(room);
  const std::string longest = fmt::format("{}  {}", labels.full, share);
  if (columns(longest) <= most) return longest;
  if (columns(labels.full) <= most) return labels.full;
  for (const std::string& label : labels.shorter) {
    if (columns(label) <= most) return label;
  }
  return clipped(labels.shorter.empty() ? labels.full : labels.shorter.back(), most);
}

/// An entry of the legend.
struct Key {
  std::string_view css;
  std::string_view word;
  bool round = false;
  double width() const { return 28 + 6.6 * static_cast<double>(word.size()) + 18; }
};

class FlameSvg {
 public:
  FlameSvg(const Profile& profile, const Writer& write)
      : profile_(profile), write_(write), words_(profile), spans_(lay_out(profile)) {
    choose_frames();
    const std::size_t remarks = std::min(remark_rows().size(), kMostRemarks + 1);
    legend_ = 52 + kHeadRow * static_cast<int>(remarks);
    head_ = legend_ + 34;
    height_ = head_ + kRow * static_cast<int>(levels_) + 4 + kFoot;
  }

  bool write() {
    return open() && frames() && head() && foot() &&
           write_(fmt::format("<script><![CDATA[\n{}]]></script>\n</svg>\n", kFlameScript));
  }

 private:
  void choose_frames();
  std::vector<std::string> remark_rows() const;
  std::string subtitle() const;
  Labels labels(const TreeNode& node) const;
  std::string facts(const TreeNode& node) const;
  std::string place_facts(const TreeNode& node) const;
  std::string count_facts(const TreeNode& node) const;
  std::string frame(std::size_t node) const;
  std::string legend() const;
  std::vector<Key> keys() const;
  bool open();
  bool head();
  bool frames();
  bool foot();

  double pixels(std::uint64_t ops) const {
    return spans_[0].width == 0 ? 0 : kInner * static_cast<double>(ops) / static_cast<double>(spans_[0].width);
  }

  const Profile& profile_;
  const Writer& write_;
  Words words_;
  std::vector<Span> spans_;
  std::vector<std::optional<std::uint32_t>> number_;  // by node: its number among the frames that are drawn
  std::uint32_t drawn_ = 0;
  std::uint32_t levels_ = 0;
  std::uint64_t dropped_ops_ = 0;
  int legend_ = 0;
  int head_ = 0;
  int height_ = 0;
};

/// The root, and what is wide enough: then its parent is, too.
void FlameSvg::choose_frames() {
  number_.resize(profile_.tree.size());
  for (std::size_t i = 0; i < profile_.tree.size(); i++) {
    const std::optional<std::uint32_t> parent = profile_.tree[i].parent;
    const bool parent_drawn = parent && *parent < i && number_[*parent];
    if (i == 0 || (parent_drawn && pixels(spans_[i].width) >= kNarrowest)) {
      number_[i] = drawn_++;
      levels_ = std::max(levels_, spans_[i].level + 1);
    } else if (parent_drawn) {
      dropped_ops_ += spans_[i].width;
    }
  }
}

// ---- head and foot ----

std::vector<std::string> FlameSvg::remark_rows() const {
  std::vector<std::string> rows;
  bool partial_said = !profile_.program.partial;
  for (const profile::Quality& remark : profile_.quality) {
    partial_said = partial_said || remark.kind == "partial";
    rows.push_back(fmt::format("{}: {}", words_.text(remark.kind), words_.text(remark.text)));
  }
  if (!partial_said) rows.insert(rows.begin(), "partial: the end of the run is missing");
  return rows;
}

std::string FlameSvg::subtitle() const {
  const profile::Program& program = profile_.program;
  std::string text = fmt::format(
      "{} instructions in {}. Width: share of instructions. A frame stands on the call or loop "
      "around it.",
      short_count(program.instructions), plural(program.threads, "thread"));
  const std::size_t dropped = profile_.tree.size() - drawn_;
  if (dropped > 0) {
    const double share = percent_of(dropped_ops_, spans_[0].width);
    text += fmt::format(" Not drawn, since too narrow: {} ({} %).", plural(dropped, "frame"), percent_text(share));
  }
  return text;
}

bool FlameSvg::open() {
  double legend_end = kMargin;
  for (const Key& key : keys()) legend_end += key.width();
  const std::string title = xml_escaped("Loop tree of " + shortened(words_.command_line(), 120));
  return write_(
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"loopfold-flame\" width=\"{0:.0f}\" height=\"{1}\" "
                  "viewBox=\"0 0 {0:.0f} {1}\" data-head=\"{2}\" data-foot=\"{3}\" data-controls=\"{4}\" "
                  "data-legend=\"{7:.0f}\" aria-label=\"{5}\">\n"
                  "<style>\n{6}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<g class=\"body\">\n",
                  kWidth, height_, head_, kFoot, legend_, title, kFlameStyle, legend_end));
}

bool FlameSvg::head() {
  const auto row = [](int y, std::string_view css, const std::string& text) {
    return fmt::format("<text x=\"{:.0f}\" y=\"{}\" class=\"{}\">{}</text>\n", kMargin, y, css,
                       xml_escaped(shortened(text, kHeadColumns)));
  };
  const std::string name = shortened(fmt::format("Loop tree of {}", words_.command_line()), 110);
  std::string text = fmt::format(
      "<g class=\"head\">\n<rect class=\"page wide\" width=\"{:.0f}\" "
      "height=\"{}\"/>\n",
      kWidth, head_ - 4);
  text += row(24, "name", name);
  text += row(43, "quiet", subtitle());
  const std::vector<std::string> remarks = remark_rows();
  int y = 43;
  for (std::size_t i = 0; i < remarks.size() && i <= kMostRemarks; i++) {
    y += kHeadRow;
    const std::string more = fmt::format("… {} more remarks: see loopfold tree", remarks.size() - kMostRemarks);
    text += row(y, "remark", i < kMostRemarks ? remarks[i] : more);
  }
  return write_(text + legend() + "</g>\n");
}

/// What the colours and shapes mean, as far as they occur, and where the words about it end.
std::string FlameSvg::legend() const {
  std::string text;
  double x = kMargin;
  for (const Key& key : keys()) {
    text += fmt::format(
        "<g class=\"{}\"><rect x=\"{:.0f}\" y=\"{}\" width=\"22\" height=\"13\"{}/>"
        "<text x=\"{:.0f}\" y=\"{}\">{}</text></g>\n",
        key.css, x, legend_ + 6, key.round ? " rx=\"5\"" : "", x + 28, legend_ + 17, key.word);
    x += key.width();
  }
  return text;
}

std::vector<Key> FlameSvg::keys() const {
  const auto any = [&](auto property) { return std::any_of(profile_.tree.begin(), profile_.tree.end(), property); };
  std::vector<Key> keys{{"call", "call", false}, {"loop", "loop", true}};
  if (any([](const TreeNode& node) { return node.kind == Kind::kRecursion; }))
    keys.push_back({"recursion", "recursion", true});
  if (any([](const TreeNode& node) { return node.irreducible; }))
    keys.push_back({"loop irreducible", "irreducible", true});
  if (any([](const TreeNode& node) { return !node.origin.empty(); }))
    keys.push_back({"call origin", "thread, handler, coroutine", false});
  if (any([](const TreeNode& node) { return node.excluded; })) keys.push_back({"call excluded", "left out", false});
  return keys;
}

bool FlameSvg::foot() {
  const int y = height_ - kFoot;
  return write_(fmt::format(
      "<g class=\"foot\" transform=\"translate(0,{})\"><rect class=\"page wide\" width=\"{:.0f}\" height=\"{}\"/>"
      "<text x=\"{:.0f}\" y=\"18\" class=\"info-name\"></text><text x=\"{:.0f}\" y=\"36\" class=\"info-facts quiet\">"
      "</text></g>\n</g>\n",
      y, kWidth, kFoot, kMargin, kMargin));
}

// ---- frames ----

Labels FlameSvg::labels(const TreeNode& node) const {
  Labels labels{words_.frame(node), {}};
  std::vector<std::string> forms;
  if (node.kind == Kind::kLoop || node.kind == Kind::kRecursion) {
    forms = {labels.full, node.kind == Kind::kLoop ? words_.where(node) : words_.function(node)};
    labels.full += " " + words_.rounds(node);
    if (node.source && node.kind == Kind::kLoop) forms.push_back(fmt::format(":{}", node.source->line));
  } else {
    forms = {brief_name(labels.full), base_name(labels.full)};
  }
  for (std::string& form : forms) {
    const std::string& last = labels.shorter.empty() ? labels.full : labels.shorter.back();
    if (!form.empty() && columns(form) < columns(last)) labels.shorter.push_back(std::move(form));
  }
  return labels;
}

std::string FlameSvg::place_facts(const TreeNode& node) const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const auto full = [&](const profile::Source& source) {
    return fmt::format("{}:{}", words_.text(source.file), source.line);
  };
  if (node.source) add(full(*node.source));
  if (node.kind == Kind::kLoop && !node.function.empty()) add("in " + words_.function(node));
  for (const std::string& function : node.inlined) add("inlined " + words_.text(function));
  if (node.call_site) add((node.origin.empty() ? "called at " : "started at ") + full(*node.call_site));
  if (!node.module.empty()) add(fmt::format("{}+{:#x}", words_.text(node.module), node.address));
  return text;
}

std::string FlameSvg::count_facts(const TreeNode& node) const {
  if (node.kind == Kind::kCall) return fmt::format("called {}", plural(node.entries, "time"));
  const profile::Counts rounds = rounds_of(node);
  return fmt::format("entered {}, {} in all", plural(node.entries, "time"),
                     plural(rounds.total, node.kind == Kind::kLoop ? "iteration" : "step"));
}

/// All that is known about a node, one kind of fact per line.
std::string FlameSvg::facts(const TreeNode& node) const {
  const auto share = [&](std::uint64_t ops) {
    return fmt::format("{} ({} %)", grouped(ops), percent_text(percent_of(ops, profile_.tree[0].ops)));
  };
  std::string text = labels(node).full;
  text += fmt::format("\n{} instructions, {} its own", share(node.ops), share(node.self_ops));
  if (node.kind != Kind::kRoot) text += "\n" + count_facts(node);
  text += fmt::format("\n{} access memory, {} floating-point", grouped(node.mem_ops), grouped(node.fp_ops));
  if (node.kind != Kind::kRoot) text += "\n" + place_facts(node);
  if (node.irreducible) text += "\nirreducible: it can be entered in more than one place";
  if (node.excluded) text += "\nleft out of regions and advice, as asked";
  return text;
}

std::string FlameSvg::frame(std::size_t index) const {
  const TreeNode& node = profile_.tree[index];
  const Span& span = spans_[index];
  const Labels labels = this->labels(node);
  const double x = kMargin + pixels(span.start);
  const double width = index == 0 ? kInner : pixels(span.width);
  const int y = head_ + kRow * static_cast<int>(levels_ - 1 - span.level);
  std::string css = fmt::format("{} s{}", class_of(node.kind), shade_of(labels.full));
  if (node.irreducible) css += " irreducible";
  if (node.excluded) css += " excluded";
  if (!node.origin.empty()) css += " origin";
  const bool round = node.kind == Kind::kLoop || node.kind == Kind::kRecursion;
  std::string shorter;
  for (std::size_t i = 0; i < labels.shorter.size(); i++)
    shorter += fmt::format(" data-{}=\"{}\"", "mst"[i], xml_escaped(labels.shorter[i]));
  const std::string share = fmt::format("{:.1f} %", percent_of(span.width, spans_[0].width));
  const std::string parent = node.parent ? fmt::format(" data-p=\"{}\"", *number_[*node.parent]) : "";
  return fmt::format(
      "<g class=\"{}\" data-a=\"{}\" data-w=\"{}\" data-l=\"{}\"{} data-n=\"{}\"{}><title>{}</title>"
      "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"{}/><text x=\"{:.2f}\" y=\"{}\">{}</text></g>\n",
      css, span.start, span.width, span.level, parent, xml_escaped(labels.full), shorter, xml_escaped(facts(node)), x,
      y, std::max(width - 1, width / 2), kRow - 1, round ? " rx=\"5\"" : "", x + 4, y + 14,
      xml_escaped(fitted(labels, share, width)));
}

bool FlameSvg::frames() {
  if (!write_("<g class=\"frames\">\n")) return false;
  for (std::size_t i = 0; i < profile_.tree.size(); i++) {
    if (number_[i] && !write_(frame(i))) return false;
  }
  return write_("</g>\n");
}

}  // namespace

bool write_flame_svg(const Profile& profile, const Writer& write) { return FlameSvg(profile, write).write(); }

}  // namespace loopfold::views
