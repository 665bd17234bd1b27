// Lines of address traces. What they look like is in records.h.
#include "reconstruct/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace loopfold::reconstruct {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool parse_number(std::string_view text, int base, std::uint64_t& into) {
  if (text.empty()) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, base);
  return error == std::errc() && end == text.data() + text.size();
}

/// 0x…, or decimal.
bool parse_either(std::string_view text, std::uint64_t& into, bool& decimal) {
  decimal = !(text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'));
  return decimal ? parse_number(text, 10, into) : parse_number(text.substr(2), 16, into);
}

/// The text up to the next comma, which is taken off.
std::string_view next_field(std::string_view& line) {
  const std::size_t comma = line.find(',');
  const std::string_view field = trimmed(line.substr(0, comma));
  line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  return field;
}

bool has_letter_kind(std::string_view line) {
  return line.size() > 3 && line[0] == ' ' && (line[1] == 'L' || line[1] == 'S' || line[1] == 'M') && line[2] == ' ';
}

}  // namespace

std::string_view format_name(Format format) {
  switch (format) {
    case Format::kLackey:
      return "lackey";
    case Format::kPinatrace:
      return "pinatrace";
    case Format::kCsv:
      return "csv";
    case Format::kRaw:
      return "raw";
  }
  return "";
}

Line Parser::bad(const char* reason) {
  reason_ = reason;
  return Line::kBad;
}

Line Parser::parse(std::string_view line, Record& into) {
  Line result = Line::kBad;
  if (format_ == Format::kLackey)
    result = parse_lackey(line, into);
  else if (format_ == Format::kPinatrace)
    result = parse_pinatrace(line, into);
  else if (format_ == Format::kCsv)
    result = parse_csv(line, into);
  first_ = false;
  return result;
}

Line Parser::parse_lackey(std::string_view line, Record& into) {
  if (trimmed(line).empty() || line.starts_with("==") || line.starts_with("--")) return Line::kPassedOver;
  const bool fetch = line.starts_with("I ");
  if (!fetch && !has_letter_kind(line)) return bad("expected `I`, ` L`, ` S` or ` M` in front of an address");
  std::string_view rest = trimmed(line.substr(2));
  const std::string_view address = next_field(rest);
  if (!parse_number(address, 16, into.address)) return bad("the address is not a hexadecimal number of 64 bits");
  if (!parse_number(trimmed(rest), 10, into.size)) return bad("expected a size behind the address: ADDRESS,SIZE");
  into.kind = fetch ? 'I' : line[1] == 'L' ? 'R' : line[1] == 'S' ? 'W' : 'M';
  if (fetch) ip_ = into.address;
  into.ip = ip_;
  return Line::kRecord;
}

Line Parser::parse_pinatrace(std::string_view line, Record& into) {
  const std::string_view text = trimmed(line);
  if (text.empty() || text[0] == '#') return Line::kPassedOver;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return bad("expected `IP: R|W ADDRESS`");
  bool decimal = false;
  if (!parse_either(text.substr(0, colon), into.ip, decimal) || decimal)
    return bad("the instruction is not a 0x number");
  std::string_view rest = trimmed(text.substr(colon + 1));
  if (rest.size() < 2 || (rest[0] != 'R' && rest[0] != 'W') || rest[1] != ' ')
    return bad("expected R or W behind the colon");
  into.kind = rest[0];
  if (!parse_either(trimmed(rest.substr(2)), into.address, decimal) || decimal)
    return bad("the address is not a 0x number of 64 bits");
  into.size = 0;
  return Line::kRecord;
}

Line Parser::parse_csv(std::string_view line, Record& into) {
  std::string_view rest = trimmed(line);
  if (rest.empty() || rest[0] == '#') return Line::kPassedOver;
  const std::string_view ip = next_field(rest);
  if (!parse_either(ip, into.ip, into.decimal_ip)) {
    if (first_ && ip == "ip") return Line::kPassedOver;
    return bad("the instruction (first field) is not a number of 64 bits");
  }
  const std::string_view kind = next_field(rest);
  if (kind != "R" && kind != "W") return bad("the second field is not R or W");
  into.kind = kind[0];
  if (!parse_either(next_field(rest), into.address, into.decimal_address))
    return bad("the address (third field) is not a number of 64 bits");
  bool decimal = false;
  if (!parse_either(next_field(rest), into.size, decimal)) return bad("the size (fourth field) is not a number");
  if (!rest.empty()) return bad("more than four fields");
  return Line::kRecord;
}

void render(Format format, const Record& record, std::string& into) {
  const auto out = std::back_inserter(into);
  if (format == Format::kLackey) {
    if (record.kind == 'I')
      fmt::format_to(out, "I  {:08x},{}", record.address, record.size);
    else
      fmt::format_to(out, " {} {:08x},{}",
                     record.kind == 'R'   ? 'L'
                     : record.kind == 'W' ? 'S'
                                          : 'M',
                     record.address, record.size);
  } else if (format == Format::kPinatrace) {
    fmt::format_to(out, "{:#x}: {} {:#x}", record.ip, record.kind, record.address);
  } else {
    if (record.decimal_ip)
      fmt::format_to(out, "{},{},", record.ip, record.kind);
    else
      fmt::format_to(out, "{:#x},{},", record.ip, record.kind);
    if (record.decimal_address)
      fmt::format_to(out, "{},{}", record.address, record.size);
    else
      fmt::format_to(out, "{:#x},{}", record.address, record.size);
  }
}

Format guess_format(std::string_view beginning) {
  const auto is_text = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; };
  if (beginning.empty()) return Format::kCsv;
  if (!std::all_of(beginning.begin(), beginning.end(), is_text)) return Format::kRaw;
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    const std::string_view line = beginning.substr(0, end);
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    Record record;
    if (line.starts_with("==")) return Format::kLackey;
    for (const Format format : {Format::kLackey, Format::kPinatrace, Format::kCsv})
      if (Parser(format).parse(line, record) == Line::kRecord) return format;
  }
  return Format::kCsv;
}

}  // namespace loopfold::reconstruct
