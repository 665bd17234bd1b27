// Reading JSON objects by the names of json_names.h.
//
// Reading trusts nothing: the first value that is not as it should be is kept as a text that says where it stands, and
// what comes behind it does no harm. What may be missing gets its default.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "profile/json_names.h"

namespace loopfold::profile {

using Json = nlohmann::ordered_json;

/// Reads the values of one object, and remembers the first that is not as it should be.
class Fields {
 public:
  Fields(const Json& json, std::string where, std::optional<std::string>& problem)
      : json_(json), where_(std::move(where)), problem_(problem) {
    if (!json_.is_object()) complain("not an object");
  }

  /// A value that must be there.
  template <typename T>
  void need(const char* name, T& value) {
    const Json* const found = find(name);
    if (found == nullptr) {
      complain(fmt::format("no \"{}\"", name));
    } else {
      take(name, *found, value);
    }
  }

  /// A number from 0 to 100 that must be there.
  void percent(const char* name, double& value) { need_double(name, value, 100.0, "between 0 and 100"); }
  /// A number from 0 on that must be there.
  void number(const char* name, double& value) {
    need_double(name, value, std::numeric_limits<double>::max(), "a number from 0");
  }

  /// A value that may be missing: then it is `otherwise`.
  template <typename T>
  void may(const char* name, T& value, const T& otherwise = T{}) {
    if (const Json* const found = find(name); found != nullptr)
      take(name, *found, value);
    else
      value = otherwise;
  }
  template <typename T>
  void always(const char* name, T& value) {
    may(name, value);
  }

  const Json* find(const char* name) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }

  void complain(const std::string& what) {
    if (!problem_) problem_ = where_.empty() ? what : where_ + ": " + what;
  }

 private:
  void wrong(const char* name, const std::string& wanted) { complain(fmt::format("\"{}\" is not {}", name, wanted)); }

  void take(const char* name, const Json& json, bool& value) {
    if (!json.is_boolean()) return wrong(name, "true or false");
    value = json.get<bool>();
  }
  void take(const char* name, const Json& json, std::string& value) {
    if (!json.is_string()) return wrong(name, "a string");
    value = json.get<std::string>();
  }
  void need_double(const char* name, double& value, double most, const char* wanted) {
    const Json* const found = find(name);
    if (found == nullptr) return complain(fmt::format("no \"{}\"", name));
    take_double(name, *found, value, most, wanted);
  }
  void take_double(const char* name, const Json& json, double& value, double most, const char* wanted) {
    if (!json.is_number()) return wrong(name, "a number");
    value = json.get<double>();
    if (!(value >= 0.0 && value <= most)) wrong(name, wanted);
  }
  void take(const char* name, const Json& json, double& value) {
    take_double(name, json, value, 1.0, "between 0 and 1");
  }
  template <typename T>
  requires(std::is_unsigned_v<T> && !std::is_same_v<T, bool>) void take(const char* name, const Json& json, T& value) {
    if (!json.is_number_unsigned()) return wrong(name, "a whole number from 0");
    const auto number = json.get<std::uint64_t>();
    if (number > std::numeric_limits<T>::max()) return wrong(name, "in the range that can be");
    value = static_cast<T>(number);
  }
  template <typename T>
  requires(std::is_integral_v<T>&& std::is_signed_v<T>) void take(const char* name, const Json& json, T& value) {
    const char* const wanted = sizeof(T) < sizeof(std::int64_t) ? "a small whole number" : "a whole number of 64 bits";
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    const bool large = json.is_number_unsigned() && json.get<std::uint64_t>() > kMost;
    if (!json.is_number_integer() || large) return wrong(name, wanted);
    const auto number = json.get<std::int64_t>();
    if (number < std::numeric_limits<T>::min()) return wrong(name, wanted);
    value = static_cast<T>(number);
  }
  template <typename T>
  requires std::is_enum_v<T>
  void take(const char* name, const Json& json, T& value) {
    std::string text;
    take(name, json, text);
    const std::span<const std::string_view> names = names_of(T{});
    const auto found = std::find(names.begin(), names.end(), text);
    if (found != names.end()) {
      value = static_cast<T>(found - names.begin());
      return;
    }
    std::string wanted;
    for (std::size_t i = 0; i < names.size(); i++)
      wanted += fmt::format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
    wrong(name, wanted);
  }
  template <typename T>
  void take(const char* name, const Json& json, std::optional<T>& value) {
    value.reset();
    if (!json.is_null()) take(name, json, value.emplace());
  }
  template <typename T>
  void take(const char* name, const Json& json, std::vector<T>& value) {
    if (!json.is_array()) return wrong(name, array_of(value));
    value.clear();
    for (const Json& element : json) {
      if constexpr (std::is_same_v<T, std::string>) {
        if (!element.is_string()) return wrong(name, array_of(value));
      }
      take(name, element, value.emplace_back());
    }
  }
  template <typename T>
  requires std::is_class_v<T>
  void take(const char* name, const Json& json, T& value) {
    Fields part(json, within(name), problem_);
    visit(part, value);
  }

  template <typename T>
  static const char* array_of(const std::vector<T>&) {
    return std::is_same_v<T, std::string> ? "an array of strings" : "an array";
  }

  std::string within(const char* name) const { return where_.empty() ? name : fmt::format("{}: {}", where_, name); }

  const Json& json_;
  std::string where_;
  std::optional<std::string>& problem_;
};

}  // namespace loopfold::profile
