#include "advise/check_steps.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

namespace loopfold::advise {

namespace {

template <typename T>
std::optional<T> number_in(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<LoopRef> loop_in(const std::string& text) {
  LoopRef ref;
  ref.text = text;
  std::string rest = text;
  if (const std::size_t at = rest.rfind('@'); at != std::string::npos) {
    ref.node = number_in<std::uint32_t>(std::string_view(rest).substr(at + 1));
    if (!ref.node) return std::nullopt;
    rest = rest.substr(0, at);
  }
  if (const std::size_t colon = rest.rfind(':'); colon != std::string::npos) {
    ref.file = rest.substr(0, colon);
    rest = rest.substr(colon + 1);
  }
  const std::optional<int> line = number_in<int>(rest);
  if (!line || *line <= 0) return std::nullopt;
  ref.line = *line;
  return ref;
}

Result<Step> wrong(const std::string& text, std::string_view how) {
  return fail(ErrorKind::kBadInput, fmt::format("'{}': should be '{}'", text, how));
}

Result<Step> parse_step(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  Step step;
  step.text = fmt::format("{}", fmt::join(words, " "));
  const std::string& name = words.front();
  const std::size_t count = words.size() - 1;
  const auto loops = [&](std::size_t first, std::size_t n) {
    for (std::size_t i = first; i < first + n; ++i) {
      const std::optional<LoopRef> loop = loop_in(words[i]);
      if (!loop) return false;
      step.loops.push_back(*loop);
    }
    return true;
  };
  if (name == "interchange" || name == "fuse") {
    step.kind = name == "fuse" ? Step::Kind::kFuse : Step::Kind::kInterchange;
    if (count != 2 || !loops(1, 2)) return wrong(text, name + " LINE LINE");
  } else if (name == "tile") {
    step.kind = Step::Kind::kTile;
    if (count != 2) return wrong(text, "tile LINE[,LINE...] SIZE");
    std::istringstream list(words[1]);
    for (std::string one; std::getline(list, one, ',');) {
      const std::optional<LoopRef> loop = loop_in(one);
      if (!loop) return wrong(text, "tile LINE[,LINE...] SIZE");
      step.loops.push_back(*loop);
    }
    const std::optional<std::int64_t> size = number_in<std::int64_t>(words[2]);
    if (!size || *size < 1 || *size > (1 << 20) || step.loops.empty()) return wrong(text, "tile LINE[,LINE...] SIZE");
    step.number = *size;
  } else if (name == "parallel" || name == "vector") {
    step.kind = name == "vector" ? Step::Kind::kVector : Step::Kind::kParallel;
    step.reduction = count == 2 && words[2] == "reduction";
    if (count < 1 || count > 2 || (count == 2 && !step.reduction) || !loops(1, 1))
      return wrong(text, name + " LINE [reduction]");
  } else if (name == "reverse") {
    step.kind = Step::Kind::kReverse;
    if (count != 1 || !loops(1, 1)) return wrong(text, "reverse LINE");
  } else if (name == "skew") {
    step.kind = Step::Kind::kSkew;
    const std::optional<std::int64_t> factor =
        count == 3 ? number_in<std::int64_t>(words[3]) : std::optional<std::int64_t>();
    if (!factor || *factor < -1000 || *factor > 1000 || !loops(1, 2)) return wrong(text, "skew LINE LINE FACTOR");
    step.number = *factor;
  } else if (name == "distribute") {
    step.kind = Step::Kind::kDistribute;
    if ((count != 1 && count != 3) || !loops(1, 1)) return wrong(text, "distribute LINE [at LINE]");
    if (count == 3) {
      step.at = loop_in(words[3]);
      if (words[2] != "at" || !step.at) return wrong(text, "distribute LINE [at LINE]");
    }
  } else if (name == "private") {
    step.kind = Step::Kind::kPrivate;
    if (count != 1) return wrong(text, "private VARIABLE");
    step.variable = words[1];
  } else {
    return fail(
        ErrorKind::kBadInput,
        fmt::format("'{}': no such step; there are interchange, tile, parallel, vector, skew, fuse, distribute, "
                    "reverse and private",
                    text));
  }
  return step;
}

std::string without_comments(std::string_view text) {
  std::string result;
  bool comment = false;
  for (const char c : text) {
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    if (!comment) result += c;
  }
  return result;
}

}  // namespace

Result<ScheduleText> parse_schedule(std::string_view text) {
  const std::string plain = without_comments(text);
  ScheduleText schedule;
  const std::size_t first = plain.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return schedule;
  if (plain[first] == '{' || plain[first] == '[') {
    schedule.isl = plain.substr(first);
    return schedule;
  }
  std::string one;
  for (std::size_t i = 0; i <= plain.size(); ++i) {
    if (i < plain.size() && plain[i] != '\n' && plain[i] != ';') {
      one += plain[i];
      continue;
    }
    if (one.find_first_not_of(" \t\r") != std::string::npos) {
      Result<Step> step = parse_step(one.substr(one.find_first_not_of(" \t\r")));
      if (!step) return tl::unexpected<Error>(step.error());
      schedule.steps.push_back(std::move(*step));
    }
    one.clear();
  }
  return schedule;
}

}  // namespace loopfold::advise
