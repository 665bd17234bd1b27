#include "views/tree_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "support/units.h"
#include "views/children.h"
#include "views/row.h"
#include "views/words.h"

namespace loopfold::views {

namespace {

using profile::Profile;
using profile::TreeNode;
using Kind = TreeNode::Kind;

constexpr double kHotPercent = 10.0;        // of its own instructions: worth a look
constexpr double kChainPercent = 0.5;       // of its own instructions: a call that only passes on
constexpr std::size_t kNumberColumns = 25;  // in front of the tree
constexpr std::size_t kLeastWidth = 60;     // of a row; below that it may wrap
constexpr std::size_t kRowColumns = 30;     // that indentation leaves for what a row says
constexpr std::size_t kLeastName = 12;      // columns of a name, if it must be shortened
constexpr std::size_t kMostOrigin = 20;     // columns of a word
constexpr std::size_t kChainNames = 4;      // that a chain shows at the most

std::string plural(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// What was left out below a node.
struct Omitted {
  std::uint64_t small = 0;
  std::uint64_t small_ops = 0;
  std::uint64_t deeper = 0;
  std::uint64_t deeper_ops = 0;
};

class TreeText {
 public:
  TreeText(const Profile& profile, const TreeTextOptions& options)
      : profile_(profile),
        options_(options),
        words_(profile, options.charset),
        ascii_(options.charset == Charset::kAscii),
        width_(std::max(options.width, kLeastWidth)),
        whole_(profile.tree.empty() ? 0 : profile.tree[0].ops),
        fates_(select(profile, options.filter)),
        children_(profile.tree),
        shown_(profile.tree, [this](std::size_t i) { return is_shown(fates_[i]); }),
        omitted_(profile.tree.size()) {
    for (std::size_t i = profile.tree.size(); i-- > 1;) count_omitted(profile.tree[i], fates_[i]);
  }

  std::string text() {
    head();
    remarks();
    if (!profile_.tree.empty()) tree();
    if (options_.legend) legend();
    return std::move(out_);
  }

 private:
  /// A node whose row is written and whose children are being written.
  struct Open {
    std::span<const std::uint32_t> children;
    std::size_t next = 0;
    std::uint32_t node = 0;
    bool rest = false;  // a row that says what was left out comes last
  };

  /// Small ones count by themselves, with all below them; of what is too deep, every node does. Children first.
  void count_omitted(const TreeNode& node, Fate fate) {
    if (!node.parent || *node.parent >= node.id) return;
    Omitted& omitted = omitted_[*node.parent];
    if (fate == Fate::kSmall && is_shown(fates_[*node.parent])) {
      omitted.small++;
      omitted.small_ops += node.ops;
    } else if (fate == Fate::kDeeper) {
      omitted.deeper += 1 + omitted_[node.id].deeper;
      if (is_shown(fates_[*node.parent])) omitted.deeper_ops += node.ops;
    }
  }

  std::string_view pick(std::string_view unicode, std::string_view plain) const { return ascii_ ? plain : unicode; }
  std::string paint(std::string_view text, Style style) const { return styled(text, style, options_.color); }
  double percent(std::uint64_t ops) const { return percent_of(ops, whole_); }

  void line(const std::string& text) {
    out_ += text;
    out_ += '\n';
  }

  void head();
  void remarks();
  void legend();
  void tree();
  std::uint32_t row(std::uint32_t node);
  void rest_row(const Omitted& omitted);
  std::vector<std::uint32_t> chain_from(std::uint32_t node) const;
  bool passes_on(std::uint32_t node) const;
  std::string numbers(const TreeNode& first, std::uint64_t self) const;
  std::string branches() const;
  std::string omitted_text(const Omitted& omitted) const;
  void describe_root(Row& row) const;
  void describe_origin(const TreeNode& node, Row& row) const;
  void describe_loop(const TreeNode& node, Row& row) const;
  void describe_call(const std::vector<std::uint32_t>& chain, Row& row) const;
  std::string chain_name(const std::vector<std::uint32_t>& chain) const;

  const Profile& profile_;
  const TreeTextOptions& options_;
  Words words_;
  bool ascii_;
  std::size_t width_;
  std::uint64_t whole_;
  std::vector<Fate> fates_;
  Children children_;
  Children shown_;
  std::vector<Omitted> omitted_;
  std::vector<bool> last_;  // by level of the row to be written: is it the last among its siblings?
  std::string out_;
};

// ---- around the tree ----

void TreeText::head() {
  const profile::Program& program = profile_.program;
  std::string facts =
      fmt::format(": {} instructions in {}", short_count(program.instructions), plural(program.threads, "thread"));
  facts += program.exit_status ? fmt::format(", exit status {}", *program.exit_status) : ", exit status not known";
  Row row;
  row.add("Loop tree of ");
  row.add_name(words_.command_line(), Style::kStrong, kLeastName);
  row.add(facts);
  line(row.fitted(width_, options_.color, options_.charset));
}

void TreeText::remarks() {
  bool partial_said = !profile_.program.partial;
  for (const profile::Quality& remark : profile_.quality) {
    partial_said = partial_said || remark.kind == "partial";
    const double share = 100 * remark.share;
    const std::string share_text = share > 0 && share < 100 ? fmt::format(" ({} % of ops)", percent_text(share)) : "";
    line(fmt::format("{} {}{}", paint(words_.text(remark.kind) + ":", Style::kCaution), words_.text(remark.text),
                     share_text));
  }
  if (!partial_said) line(fmt::format("{} the end of the run is missing", paint("partial:", Style::kCaution)));
  line("");
}

void TreeText::legend() {
  line("");
  line(paint(fmt::format("ops %: instructions, with all below; self %: without. times: calls, or entries of a loop. "
                         "{}N: iterations per entry.",
                         pick("×", "x")),
             Style::kFaint));
  if (!options_.next_command.empty())
    line(fmt::format("Next: {}", paint(words_.text(options_.next_command), Style::kStrong)));
}

// ---- the tree ----

void TreeText::tree() {
  line(paint(fmt::format("{:>6}  {:>6}  {:>7}  {}", "ops %", "self %", "times", "loops and calls"), Style::kFaint));
  const bool found = options_.filter.function.empty() ||
                     std::any_of(fates_.begin(), fates_.end(), [](Fate fate) { return fate == Fate::kShown; });
  std::vector<Open> open;
  const auto enter = [&](std::uint32_t node) {
    const std::uint32_t end = row(node);
    const Omitted& omitted = omitted_[end];
    const std::span<const std::uint32_t> children = shown_.of(end);
    if (!children.empty()) open.push_back({children, 0, end, omitted.small + omitted.deeper > 0});
  };
  enter(0);
  while (!open.empty()) {
    Open& top = open.back();
    last_.resize(open.size());
    if (top.next < top.children.size()) {
      const std::uint32_t child = top.children[top.next++];
      last_.back() = top.next == top.children.size() && !top.rest;
      enter(child);
    } else {
      last_.back() = true;
      if (top.rest) rest_row(omitted_[top.node]);
      open.pop_back();
    }
  }
  if (found && options_.filter.function.empty() && shown_.of(0).empty() && omitted_[0].small > 0)
    line("\nEverything is below that. To see it: --min-percent 0");
  if (!found) line(fmt::format("\nNo function with \"{}\" in its name ran.", words_.text(options_.filter.function)));
}

/// Writes the row of a node and of those that follow it in a chain; returns the last of them.
std::uint32_t TreeText::row(std::uint32_t node) {
  const std::vector<std::uint32_t> chain = chain_from(node);
  const TreeNode& first = profile_.tree[node];
  const TreeNode& last = profile_.tree[chain.back()];
  std::uint64_t self = 0;
  for (const std::uint32_t member : chain) self += profile_.tree[member].self_ops;
  Row row;
  row.add(branches(), Style::kFaint);
  if (last.kind == Kind::kRoot) {
    describe_root(row);
  } else if (last.kind == Kind::kLoop) {
    describe_loop(last, row);
  } else {
    describe_call(chain, row);
  }
  const Omitted& omitted = omitted_[chain.back()];
  if (shown_.of(chain.back()).empty() && omitted.small + omitted.deeper > 0)
    row.add_optional(fmt::format("  {}", omitted_text(omitted)));
  const bool excluded = last.excluded;
  if (excluded && !(first.parent && profile_.tree[*first.parent].excluded)) row.add_optional("  left out");
  const std::size_t width = width_ - kNumberColumns;
  const std::string text = row.fitted(width, options_.color && !excluded, options_.charset);
  line(numbers(first, self) + (excluded ? paint(text, Style::kFaint) : text));
  return chain.back();
}

void TreeText::rest_row(const Omitted& omitted) {
  const double share = percent(omitted.small_ops + omitted.deeper_ops);
  std::string text = fmt::format("{:>6.1f}{:{}}{}", share, "", kNumberColumns - 6, branches());
  text += omitted_text(omitted);
  line(paint(text, Style::kFaint));
}

std::string TreeText::omitted_text(const Omitted& omitted) const {
  std::string text(pick("…", "..."));
  if (omitted.small > 0) text += fmt::format(" {} more below {:g} %", omitted.small, options_.filter.min_percent);
  if (omitted.small > 0 && omitted.deeper > 0) text += ",";
  if (omitted.deeper > 0) text += fmt::format(" {} more, deeper", omitted.deeper);
  return text;
}

/// The numbers in front of a row: kNumberColumns columns.
std::string TreeText::numbers(const TreeNode& first, std::uint64_t self) const {
  const double self_percent = percent(self);
  const Style self_style = self_percent >= kHotPercent ? Style::kHot
                           : self_percent < 0.05       ? Style::kFaint
                                                       : Style::kPlain;
  const std::string times = first.kind == Kind::kRoot ? "" : short_count(first.entries);
  return fmt::format("{:>6.1f}  {}  {:>7}  ", percent(first.ops),
                     paint(fmt::format("{:>6.1f}", self_percent), self_style), times);
}

/// The lines that lead to a row. Levels that do not fit are a number.
std::string TreeText::branches() const {
  const std::size_t levels = last_.size();
  const std::size_t most = std::max<std::size_t>(4, (width_ - std::min(width_, kNumberColumns + kRowColumns)) / 2);
  std::string text;
  std::size_t level = 0;
  if (levels > most) {
    level = levels - most / 2;
    text = fmt::format("{} {} levels {} ", pick("╎", ":"), level, pick("╎", ":"));
  }
  for (; level < levels; level++) {
    const bool own = level + 1 == levels;
    if (own) {
      text += last_[level] ? pick("└ ", "`-") : pick("├ ", "|-");
    } else {
      text += last_[level] ? "  " : pick("│ ", "| ");
    }
  }
  return text;
}

// ---- what a row says ----

/// A call that does next to nothing but one other call, as often as it is called itself.
bool TreeText::passes_on(std::uint32_t node) const {
  const std::span<const std::uint32_t> children = children_.of(node);
  if (children.size() != 1 || !is_shown(fates_[children[0]])) return false;
  const TreeNode& caller = profile_.tree[node];
  const TreeNode& callee = profile_.tree[children[0]];
  return caller.kind == Kind::kCall && callee.kind == Kind::kCall && callee.origin.empty() &&
         caller.entries == callee.entries && percent(caller.self_ops) < kChainPercent &&
         fates_[node] == fates_[children[0]];
}

std::vector<std::uint32_t> TreeText::chain_from(std::uint32_t node) const {
  std::vector<std::uint32_t> chain{node};
  while (passes_on(chain.back())) chain.push_back(children_.of(chain.back())[0]);
  return chain;
}

/// "main → run → kernel"; of a long one, the beginning and the end.
std::string TreeText::chain_name(const std::vector<std::uint32_t>& chain) const {
  const std::string_view arrow = pick(" → ", " -> ");
  const std::size_t budget = std::max<std::size_t>(kLeastName, (width_ - kNumberColumns) / 2 / chain.size());
  std::string name;
  for (std::size_t i = 0; i < chain.size(); i++) {
    if (i > 0) name += arrow;
    if (chain.size() > kChainNames && i == kChainNames / 2) {
      const std::size_t left_out = chain.size() - kChainNames;
      name += fmt::format("{} {} more {}{}", pick("…", "..."), left_out, pick("…", "..."), arrow);
      i += left_out;
    }
    const std::string function = words_.function(profile_.tree[chain[i]]);
    name += chain.size() == 1 ? function : shortened_name(function, budget, options_.charset);
  }
  return name;
}

void TreeText::describe_root(Row& row) const { row.add("the whole run", Style::kStrong); }

/// "thread ", "signal handler ".
void TreeText::describe_origin(const TreeNode& node, Row& row) const {
  if (!node.origin.empty())
    row.add(clipped(words_.text(node.origin), kMostOrigin, options_.charset) + " ", Style::kOrigin);
}

void TreeText::describe_loop(const TreeNode& node, Row& row) const {
  describe_origin(node, row);
  if (node.irreducible) row.add("irreducible ", Style::kCaution);
  row.add("loop ", Style::kLoop);
  row.add_name(words_.where(node), Style::kLoop, kLeastName);
  row.add("  " + words_.rounds(node));
  if (!node.inlined.empty()) row.add_optional("  inlined " + words_.text(node.inlined.back()));
  if (!node.source && !node.function.empty()) row.add_optional("  in " + words_.function(node));
}

/// A chain is described by where it starts (thread, signal handler) and by where its last function is.
void TreeText::describe_call(const std::vector<std::uint32_t>& chain, Row& row) const {
  const TreeNode& first = profile_.tree[chain.front()];
  const TreeNode& last = profile_.tree[chain.back()];
  const bool recursion = last.kind == Kind::kRecursion;
  describe_origin(first, row);
  if (recursion) row.add("recursion ", Style::kRecursion);
  row.add_name(chain_name(chain), recursion ? Style::kRecursion : Style::kCall, kLeastName);
  if (last.source) {
    row.add_optional(fmt::format(" ({})", words_.place(*last.source)));
  } else if (!last.module.empty() && !last.function.starts_with(last.module)) {
    row.add_optional(fmt::format(" ({})", words_.text(last.module)));
  }
  if (chain.size() == 1 && last.call_site) {
    const std::string_view verb = last.origin.empty() ? "called" : "started";
    row.add_optional(fmt::format(" {} at {}", verb, words_.place(*last.call_site)));
  }
  if (recursion) row.add(fmt::format("  {} steps", words_.rounds(last)));
}

}  // namespace

std::string tree_text(const Profile& profile, const TreeTextOptions& options) {
  return TreeText(profile, options).text();
}

}  // namespace loopfold::views
