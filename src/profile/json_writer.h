// JSON objects as text, straight from structs: no document is built in memory on the way.
//
// The names come from the `visit` functions of json_names.h. What must be there is always written; what may be missing
// is left out where it has the value that a reader assumes. In a profile of a large program that is most of it. Linear;
// the same struct gives the same bytes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "support/utf8.h"

namespace loopfold::profile {

/// Appends the members of one object to a text.
class Writer {
 public:
  /// `all`: also what has its default.
  Writer(std::string& text, bool all) : text_(text), all_(all) {}

  template <typename T>
  void need(const char* name, const T& value) {
    put_name(name);
    put(value);
  }
  template <typename T>
  void always(const char* name, const T& value) {
    need(name, value);
  }
  void percent(const char* name, double value) { put_member(name, value, 100.0); }
  void number(const char* name, double value) { put_member(name, value, std::numeric_limits<double>::max()); }
  template <typename T>
  void may(const char* name, const T& value, const T& otherwise = T{}) {
    if (all_ || !(value == otherwise)) need(name, value);
  }

  template <typename T>
  requires std::is_class_v<T>
  static void write(std::string& text, const T& value, bool all) { Writer(text, all).put(value); }

 private:
  void put_name(const char* name) {
    text_ += first_ ? "\"" : ",\"";
    text_ += name;
    text_ += "\":";
    first_ = false;
  }
  void put_member(const char* name, double value, double most) {
    put_name(name);
    put_double(value, most);
  }
  void put_double(double value, double most) {
    fmt::format_to(std::back_inserter(text_), "{}", std::isfinite(value) ? std::clamp(value, 0.0, most) : 0.0);
  }
  void put(bool value) { text_ += value ? "true" : "false"; }
  void put(double value) { put_double(value, 1.0); }
  template <typename T>
  requires std::is_integral_v<T>
  void put(T value) {
    const fmt::format_int digits(value);
    text_.append(digits.data(), digits.size());
  }
  template <typename T>
  requires std::is_enum_v<T>
  void put(T value) { put(names_of(value)[static_cast<std::size_t>(value)]); }
  template <typename T>
  void put(const std::optional<T>& value) {
    if (value)
      put(*value);
    else
      text_ += "null";
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); i++) {
      if (i != 0) text_ += ',';
      put(values[i]);
    }
    text_ += ']';
  }
  template <typename T>
  requires std::is_class_v<T>
  void put(const T& value) {
    text_ += '{';
    Writer members(text_, all_);
    visit(members, value);
    text_ += '}';
  }
  void put(const std::string& value) { put(std::string_view(value)); }
  void put(std::string_view value) {
    const auto plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    text_ += '"';
    if (std::all_of(value.begin(), value.end(), plain))
      text_ += value;
    else
      for (const char c : valid_utf8(value)) put_escaped(c);
    text_ += '"';
  }
  void put_escaped(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      fmt::format_to(std::back_inserter(text_), "\\u{:04x}", byte);
    else if (c == '"' || c == '\\')
      (text_ += '\\') += c;
    else
      text_ += c;
  }

  std::string& text_;
  bool all_;
  bool first_ = true;
};

}  // namespace loopfold::profile
