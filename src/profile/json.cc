#include "profile/json.h"

#include <fmt/format.h>

#include <span>

#include "profile/json_names.h"
#include "profile/json_writer.h"
#include "support/parallel.h"

namespace loopfold::profile {

namespace {

constexpr std::string_view kNodeKinds[] = {"root", "call", "loop", "recursion"};
constexpr std::string_view kStatementKinds[] = {"code", "allocator", "hidden", "system call"};
constexpr std::string_view kAccessKinds[] = {"load", "store"};
constexpr std::string_view kDependenceKinds[] = {"register", "memory", "control", "environment"};
constexpr std::string_view kObjectKinds[] = {"heap", "global", "stack", "environment", "unknown"};
constexpr std::string_view kBlockingKinds[] = {"register", "memory", "environment", "control"};
constexpr std::string_view kVerdicts[] = {"yes", "no", "reduction", "unknown"};
constexpr std::string_view kReuses[] = {"none", "private", "expand", "unknown"};
constexpr std::string_view kStatuses[] = {"found", "original", "gave up"};
constexpr std::string_view kFusions[] = {"max", "smart", "none"};
constexpr std::string_view kLegals[] = {"yes", "no", "unknown"};

}  // namespace

std::span<const std::string_view> names_of(TreeNode::Kind) { return kNodeKinds; }
std::span<const std::string_view> names_of(Statement::Kind) { return kStatementKinds; }
std::span<const std::string_view> names_of(Access::Kind) { return kAccessKinds; }
std::span<const std::string_view> names_of(Dependence::Kind) { return kDependenceKinds; }
std::span<const std::string_view> names_of(Object::Kind) { return kObjectKinds; }
std::span<const std::string_view> names_of(Blocking::Kind) { return kBlockingKinds; }
std::span<const std::string_view> names_of(Loop::Parallel) { return kVerdicts; }
std::span<const std::string_view> names_of(Loop::Reuse) { return kReuses; }
std::span<const std::string_view> names_of(Transformed::Status) { return kStatuses; }
std::span<const std::string_view> names_of(Transformed::Fusion) { return kFusions; }
std::span<const std::string_view> names_of(Suggestion::Legal) { return kLegals; }

namespace {

// ---- writing ----

/// `"name": [` and its elements, one per line.
class Section {
 public:
  Section(std::string& text, std::string_view name) : text_(text) { text_ += fmt::format(",\n\"{}\": [", name); }
  template <typename T>
  void add(const T& element, bool all = false) {
    text_ += first_ ? "\n" : ",\n";
    Writer::write(text_, element, all);
    first_ = false;
  }
  /// Elements with commas between them.
  void add_text(std::string_view elements) {
    text_ += first_ ? "\n" : ",\n";
    text_ += elements;
    first_ = false;
  }
  void close() { text_ += first_ ? "]" : "\n]"; }

 private:
  std::string& text_;
  bool first_ = true;
};

constexpr std::size_t kGrain = 4096;  // elements that are worth a thread's while

/// With several jobs, ranges of elements become texts of their own first.
template <typename T>
void write_section(std::string& text, std::string_view name, const std::vector<T>& elements, unsigned jobs = 1) {
  Section section(text, name);
  if (jobs <= 1 || elements.size() <= kGrain) {
    for (const T& element : elements) section.add(element);
  } else {
    std::vector<std::string> texts((elements.size() + kGrain - 1) / kGrain);
    for_each_range(jobs, elements.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      std::string& of_range = texts[begin / kGrain];
      for (std::size_t i = begin; i < end; i++) {
        if (i != begin) of_range += ",\n";
        Writer::write(of_range, elements[i], false);
      }
    });
    for (const std::string& of_range : texts) section.add_text(of_range);
  }
  section.close();
}

std::string opening(const Profile& profile) {
  std::string text = fmt::format("{{\"schema\": \"{}\"", kSchema);
  text += ",\n\"program\": ";
  Writer::write(text, profile.program, false);
  write_section(text, "quality", profile.quality);
  write_section(text, "gave_up", profile.gave_up);
  return text;
}

constexpr std::string_view kClosing = "\n}\n";

}  // namespace

std::string_view kind_name(TreeNode::Kind kind) { return kNodeKinds[static_cast<std::size_t>(kind)]; }
std::string_view kind_name(Statement::Kind kind) { return kStatementKinds[static_cast<std::size_t>(kind)]; }
std::string_view kind_name(Access::Kind kind) { return kAccessKinds[static_cast<std::size_t>(kind)]; }
std::string_view kind_name(Dependence::Kind kind) { return kDependenceKinds[static_cast<std::size_t>(kind)]; }
std::string_view kind_name(Object::Kind kind) { return kObjectKinds[static_cast<std::size_t>(kind)]; }
std::string_view kind_name(Blocking::Kind kind) { return kBlockingKinds[static_cast<std::size_t>(kind)]; }
std::string_view verdict_name(Loop::Parallel verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

std::string to_json_text(const Profile& profile, unsigned jobs) {
  std::string text = opening(profile);
  write_section(text, "tree", profile.tree, jobs);
  if (profile.folded) {
    write_section(text, "code", profile.code, jobs);
    write_section(text, "statements", profile.statements, jobs);
    write_section(text, "accesses", profile.accesses, jobs);
    write_section(text, "values", profile.values, jobs);
    write_section(text, "dependences", profile.dependences, jobs);
    write_section(text, "objects", profile.objects, jobs);
  }
  if (profile.judged) {
    text += fmt::format(",\n\"regions_min_percent\": {}", profile.regions_min_percent);
    write_section(text, "regions", profile.regions, jobs);
  }
  text += kClosing;
  return text;
}

std::string report_json_text(const Profile& profile, std::size_t most, double min_percent) {
  std::string text = "{\"program\": ";
  Writer::write(text, profile.program, false);
  write_section(text, "quality", profile.quality);
  Section regions(text, "regions");
  for (std::size_t i = 0; i < profile.regions.size() && i < most; i++)
    if (profile.regions[i].ops_percent >= min_percent) regions.add(profile.regions[i], true);
  regions.close();
  text += kClosing;
  return text;
}

std::string to_json_text(const Profile& profile, const std::vector<bool>& shown) {
  std::string text = opening(profile);
  Section tree(text, "tree");
  for (std::size_t i = 0; i < profile.tree.size(); i++)
    if (shown[i]) tree.add(profile.tree[i], true);
  tree.close();
  text += kClosing;
  return text;
}

}  // namespace loopfold::profile
