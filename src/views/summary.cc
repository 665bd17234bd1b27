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

/// `weight` of those elements that are `good`, in percent of all.
template <typename T, typename Good, typename Weight>
std::string share(const std::vector<T>& elements, Good good, Weight weight) {
  std::uint64_t part = 0;
  std::uint64_t whole = 0;
  for (const T& element : elements) {
    whole += weight(element);
    if (good(element)) part += weight(element);
  }
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
  std::string text = fmt::format("{}: {} instructions in {}", words.command_line(), short_count(program.instructions),
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
  return fmt::format("{} through registers, {} through memory, {} through the environment", of(Kind::kRegister),
                     of(Kind::kMemory), of(Kind::kEnvironment));
}

std::string table(const Profile& profile) {
  const auto exact = [](const auto& element) { return element.exact; };
  const auto count = [](const auto& element) { return element.count; };
  const auto ops = [](const profile::Statement& statement) { return statement.ops; };
  std::string text;
  text += row("statements", profile.statements.size(), share(profile.statements, exact, ops),
              "of the instructions have an exact domain");
  text += row("accesses", profile.accesses.size(), share(profile.accesses, exact, count),
              fmt::format("of {} are exact, in {}", short_count(instances(profile.accesses)),
                          plural(profile.objects.size(), "object")));
  text += row(
      "dependences", profile.dependences.size(), share(profile.dependences, exact, count),
      fmt::format("of {} are exact; {}", short_count(instances(profile.dependences)), kinds_of_dependences(profile)));
  return text;
}

std::string given_up(const Profile& profile, const Words& words, std::size_t most) {
  if (profile.gave_up.empty()) return "  nothing was given up\n";
  std::string text = row("given up", profile.gave_up.size(), "", "by share of the instructions");
  const std::size_t shown = std::min(most, profile.gave_up.size());
  for (std::size_t i = 0; i < shown; i++) {
    const profile::GaveUp& entry = profile.gave_up[i];
    text += fmt::format("  {:>24} % {}: {}\n", percent_text(entry.share * 100), words.text(entry.what),
                        words.text(entry.why));
  }
  if (shown < profile.gave_up.size())
    text += fmt::format("  {:>26} {} more, see gave_up in the profile\n", "", profile.gave_up.size() - shown);
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
