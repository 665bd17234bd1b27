#include "views/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/units.h"
#include "views/words.h"

namespace loopfold::views {

namespace {

using profile::Profile;

/// `weight` of those elements that are `good`, in percent of all, which are `least` or more.
template <typename T, typename Good, typename Weight>
std::string share(const std::vector<T>& elements, Good good, Weight weight, std::uint64_t least = 0) {
  std::uint64_t part = 0;
  std::uint64_t whole = 0;
  for (const T& element : elements) {
    whole += weight(element);
    if (good(element)) part += weight(element);
  }
  whole = std::max(whole, least);
  return whole == 0 ? "" : fmt::format("{} %", percent_text(percent_of(part, whole)));
}

template <typename T>
std::uint64_t instances(const std::vector<T>& elements) {
  std::uint64_t sum = 0;
  for (const T& element : elements) sum += element.count;
  return sum;
}

std::string plural(std::size_t number, const char* noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string head(const Profile& profile, const Words& words) {
  const profile::Program& program = profile.program;
  std::string text = fmt::format("{}\n  {} instructions in {}", words.command_line(), short_count(program.instructions),
                                 plural(program.threads, "thread"));
  if (program.exit_status) text += fmt::format(", exit status {}", *program.exit_status);
  text += "\n";
  for (const profile::Quality& quality : profile.quality)
    if (quality.kind == "partial") text += fmt::format("  partial: {}\n", words.text(quality.text));
  return text;
}

std::string row(const char* name, std::size_t number, const std::string& share, const std::string& rest) {
  return fmt::format("  {:<12}{:>9}   {:>8} {}\n", name, grouped(number), share, rest);
}

std::string kinds_of_dependences(const Profile& profile) {
  const auto of = [&](profile::Dependence::Kind kind) {
    return std::count_if(profile.dependences.begin(), profile.dependences.end(),
                         [&](const profile::Dependence& dependence) { return dependence.kind == kind; });
  };
  using Kind = profile::Dependence::Kind;
  std::vector<std::string> parts;
  const auto add = [&](Kind kind, const char* name) {
    if (const auto count = of(kind); count != 0)
      parts.push_back(fmt::format("{} {}", grouped(static_cast<std::uint64_t>(count)), name));
  };
  add(Kind::kRegister, "through registers");
  add(Kind::kMemory, "through memory");
  add(Kind::kControl, "through branches");
  add(Kind::kEnvironment, "through files and the system");
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// What is known exactly: of statements when they ran (code that has none is not), of accesses what they touched, of
/// dependences from where to where.
std::string table(const Profile& profile) {
  const auto exact = [](const auto& element) { return element.exact; };
  const auto count = [](const auto& element) { return element.count; };
  const auto ops = [](const profile::Statement& statement) { return statement.ops; };
  const std::string kinds = kinds_of_dependences(profile);
  std::string text = fmt::format("  {:<12}{:>9}   {:>8}\n", "found", "", "exact");
  text +=
      row("statements", profile.statements.size(), share(profile.statements, exact, ops, profile.program.instructions),
          "of the instructions: in which iterations they ran");
  text += row("accesses", profile.accesses.size(), share(profile.accesses, exact, count),
              fmt::format("of {} loads and stores: what they touched in {}", short_count(instances(profile.accesses)),
                          plural(profile.objects.size(), "object")));
  text += row("dependences", profile.dependences.size(), share(profile.dependences, exact, count),
              fmt::format("of {} instances: from which iteration to which a value went",
                          short_count(instances(profile.dependences))));
  if (!kinds.empty()) text += fmt::format("  {:>33} ({})\n", "", kinds);
  return text;
}

/// The share of the instructions for which something is not exact.
std::string share_given_up(const Profile& profile) {
  for (const profile::Quality& quality : profile.quality)
    if (quality.kind == "given up") return fmt::format("{} % of the instructions; ", percent_text(quality.share * 100));
  return "";
}

std::string given_up(const Profile& profile, const Words& words, std::size_t most) {
  if (profile.gave_up.empty()) return "  Nothing was approximated.\n";
  const std::size_t shown = std::min(most, profile.gave_up.size());
  std::string text = fmt::format("  Approximated: {}{}\n", share_given_up(profile),
                                 shown < profile.gave_up.size() ? "most of it:" : "all of it:");
  for (std::size_t i = 0; i < shown; i++) {
    const profile::GaveUp& entry = profile.gave_up[i];
    text += fmt::format("  {:>7} %  {}: {}\n", percent_text(entry.share * 100), words.text(entry.what),
                        words.text(entry.why));
  }
  if (shown < profile.gave_up.size())
    text +=
        fmt::format("  {:>9}  and {} more, see gave_up in the profile\n", "", grouped(profile.gave_up.size() - shown));
  return text;
}

}  // namespace

std::string summary_text(const Profile& profile, const SummaryOptions& options) {
  const Words words(profile, options.charset);
  std::string text = head(profile, words) + table(profile) + given_up(profile, words, options.gave_up);
  if (!options.next_command.empty()) text += fmt::format("Next: {}\n", options.next_command);
  return text;
}

}  // namespace loopfold::views
