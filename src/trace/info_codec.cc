// RunInfo and EndInfo as JSON.
//
// Arguments and paths are bytes, JSON strings are Unicode: a string that is not valid UTF-8 is written as
// {"hex": "..."}, so that every value comes back exactly. Unknown members are ignored and missing ones keep their
// defaults, so members can be added without a new format version; a member of the wrong type is an error.
#include "trace/info_codec.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace loopfold::trace {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<EndInfo::Reason, std::string_view>, 6> kReasons = {{
    {EndInfo::Reason::kProgramEnded, "program-ended"},
    {EndInfo::Reason::kInstructionLimit, "instruction-limit"},
    {EndInfo::Reason::kSizeLimit, "size-limit"},
    {EndInfo::Reason::kWriteError, "write-error"},
    {EndInfo::Reason::kRecorderLost, "recorder-lost"},
    {EndInfo::Reason::kExec, "exec"},
}};

/// What decoding throws when a member is not what it should be; does not leave this file.
struct WrongMember {
  std::string reason;
};

Json text(const std::string& value) {
  try {
    static_cast<void>(Json(value).dump());
    return value;
  } catch (const Json::exception&) {
    std::string hex;
    for (const char c : value) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return Json{{"hex", hex}};
  }
}

Json texts(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(text(value));
  return list;
}

std::string from_hex(const std::string& hex) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string bytes;
  if (hex.size() % 2 != 0) throw WrongMember{"an odd number of hexadecimal digits"};
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const std::size_t high = kDigits.find(hex[i]);
    const std::size_t low = kDigits.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) throw WrongMember{"not a hexadecimal digit"};
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

std::string from_text(const Json& value) {
  return value.is_object() ? from_hex(value.at("hex").get<std::string>()) : value.get<std::string>();
}

void read(const Json& from, const char* name, std::string& to) {
  if (from.contains(name)) to = from_text(from.at(name));
}

void read(const Json& from, const char* name, std::vector<std::string>& to) {
  if (!from.contains(name)) return;
  if (!from.at(name).is_array()) throw WrongMember{fmt::format("{} is not a list", name)};
  for (const Json& value : from.at(name)) to.push_back(from_text(value));
}

void read(const Json& from, const char* name, bool& to) {
  if (from.contains(name)) to = from.at(name).get<bool>();
}

void read(const Json& from, const char* name, std::uint64_t& to) {
  if (!from.contains(name)) return;
  if (!from.at(name).is_number_unsigned()) throw WrongMember{fmt::format("{} is not a natural number", name)};
  to = from.at(name).get<std::uint64_t>();
}

void read(const Json& from, const char* name, int& to) {
  if (!from.contains(name)) return;
  if (!from.at(name).is_number_integer()) throw WrongMember{fmt::format("{} is not a whole number", name)};
  const std::int64_t value = from.at(name).get<std::int64_t>();
  if (value != static_cast<int>(value)) throw WrongMember{fmt::format("{} is out of range", name)};
  to = static_cast<int>(value);
}

void read(const Json& from, const char* name, EndInfo::Reason& to) {
  if (!from.contains(name)) return;
  const std::string found = from.at(name).get<std::string>();
  for (const auto& [reason, word] : kReasons) {
    if (found == word) return static_cast<void>(to = reason);
  }
  throw WrongMember{fmt::format("unknown reason '{}'", found)};
}

/// Parses `payload` and lets `members` take what it wants from the object; every complaint becomes an Error.
template <typename Members>
Result<void> parse(std::span<const std::uint8_t> payload, const char* what, Members members) {
  try {
    const Json json = Json::parse(payload.begin(), payload.end());
    if (!json.is_object()) throw WrongMember{"not an object"};
    members(json);
    return {};
  } catch (const Json::exception& complaint) {
    return fail(ErrorKind::kBadInput, fmt::format("{}: {}", what, complaint.what()));
  } catch (const WrongMember& complaint) {
    return fail(ErrorKind::kBadInput, fmt::format("{}: {}", what, complaint.reason));
  }
}

}  // namespace

std::string encode_run_info(const RunInfo& info) {
  const Json json = {
      {"argv", texts(info.argv)},
      {"program", text(info.program)},
      {"interpreter", text(info.interpreter)},
      {"working_directory", text(info.working_directory)},
      {"loopfold_version", text(info.loopfold_version)},
      {"valgrind_version", text(info.valgrind_version)},
      {"options", texts(info.options)},
      {"process_id", info.process_id},
      {"naive", info.naive},
  };
  return json.dump();
}

Result<RunInfo> decode_run_info(std::span<const std::uint8_t> payload) {
  RunInfo info;
  const Result<void> parsed = parse(payload, "run information", [&](const Json& json) {
    read(json, "argv", info.argv);
    read(json, "program", info.program);
    read(json, "interpreter", info.interpreter);
    read(json, "working_directory", info.working_directory);
    read(json, "loopfold_version", info.loopfold_version);
    read(json, "valgrind_version", info.valgrind_version);
    read(json, "options", info.options);
    read(json, "process_id", info.process_id);
    read(json, "naive", info.naive);
  });
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  return info;
}

std::string encode_end_info(const EndInfo& end) {
  std::string_view reason;
  for (const auto& [value, word] : kReasons) {
    if (value == end.reason) reason = word;
  }
  const Json json = {
      {"reason", reason},
      {"text", text(end.text)},
      {"exit_status", end.exit_status},
      {"exit_status_known", end.exit_status_known},
      {"instructions", end.instructions},
      {"hidden_instructions", end.hidden_instructions},
      {"events", end.events},
      {"side_events", end.side_events},
      {"threads", end.threads},
      {"checksum", end.checksum},
  };
  return json.dump();
}

Result<EndInfo> decode_end_info(std::span<const std::uint8_t> payload) {
  EndInfo end;
  const Result<void> parsed = parse(payload, "end record", [&](const Json& json) {
    read(json, "reason", end.reason);
    read(json, "text", end.text);
    read(json, "exit_status", end.exit_status);
    read(json, "exit_status_known", end.exit_status_known);
    read(json, "instructions", end.instructions);
    read(json, "hidden_instructions", end.hidden_instructions);
    read(json, "events", end.events);
    read(json, "side_events", end.side_events);
    read(json, "threads", end.threads);
    read(json, "checksum", end.checksum);
  });
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  return end;
}

}  // namespace loopfold::trace
