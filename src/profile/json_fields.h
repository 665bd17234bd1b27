// Reading and writing JSON objects by one list of names.
//
// What a struct of profile.h looks like in JSON is said once, by a function
//
//     template <typename Visitor, typename Thing>
//     void visit(Visitor& fields, Thing& thing) { fields.need("id", thing.id); fields.may("kind", thing.kind); }
//
// A Fields reads with it and a Writer writes with it, so that both have the same names. Everything is written; on
// reading, `may` is for what documents of earlier versions do not have. An enum has names, indexed by its value:
// `names_of(Enum)`. Reading trusts nothing: the first value that is not as it should be is kept as a text that says
// where it stands, and what comes behind it does no harm.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "support/utf8.h"

namespace loopfold::profile {

using Json = nlohmann::ordered_json;

std::span<const std::string_view> names_of(TreeNode::Kind);
std::span<const std::string_view> names_of(Statement::Kind);
std::span<const std::string_view> names_of(Access::Kind);
std::span<const std::string_view> names_of(Dependence::Kind);
std::span<const std::string_view> names_of(Object::Kind);

// ---- structs that are parts of others ----

template <typename Visitor, typename Thing>
requires std::is_same_v<std::remove_const_t<Thing>, Source>
void visit(Visitor& fields, Thing& source) {
  fields.need("file", source.file);
  fields.need("line", source.line);
}

template <typename Visitor, typename Thing>
requires std::is_same_v<std::remove_const_t<Thing>, Counts>
void visit(Visitor& fields, Thing& counts) {
  fields.need("min", counts.min);
  fields.need("max", counts.max);
  fields.need("total", counts.total);
}

template <typename Visitor, typename Thing>
requires std::is_same_v<std::remove_const_t<Thing>, CodeAddress>
void visit(Visitor& fields, Thing& code) {
  fields.need("module", code.module);
  fields.need("address", code.address);
}

template <typename Visitor, typename Thing>
requires std::is_same_v<std::remove_const_t<Thing>, Carried>
void visit(Visitor& fields, Thing& carried) {
  fields.need("node", carried.node);
  fields.need("count", carried.count);
}

template <typename Visitor, typename Thing>
requires std::is_same_v<std::remove_const_t<Thing>, AccessPiece>
void visit(Visitor& fields, Thing& piece) {
  fields.need("domain", piece.domain);
  fields.need("count", piece.count);
  fields.need("exact", piece.exact);
  fields.need("coefficients", piece.coefficients);
  fields.need("constant", piece.constant);
  fields.may("divisor", piece.divisor);
  fields.need("modulus", piece.modulus);
  fields.need("base", piece.base);
  fields.need("block_coefficients", piece.block_coefficients);
  fields.need("block_constant", piece.block_constant);
  fields.may("block_divisor", piece.block_divisor);
  fields.need("block_modulus", piece.block_modulus);
  fields.need("block_base", piece.block_base);
}

// ---- writing ----

/// Makes one object.
class Writer {
 public:
  template <typename T>
  void need(const char* name, const T& value) {
    json_[name] = json_of(value);
  }
  template <typename T>
  void may(const char* name, const T& value) {
    need(name, value);
  }
  Json take() { return std::move(json_); }

  static Json json_of(bool value) { return value; }
  static Json json_of(const std::string& value) { return valid_utf8(value); }
  static Json json_of(double value) { return std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0.0; }
  template <typename T>
  requires std::is_integral_v<T>
  static Json json_of(T value) { return value; }
  template <typename T>
  requires std::is_enum_v<T>
  static Json json_of(T value) { return names_of(value)[static_cast<std::size_t>(value)]; }
  template <typename T>
  static Json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : Json();
  }
  template <typename T>
  static Json json_of(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(json_of(value));
    return array;
  }
  template <typename T>
  requires std::is_class_v<T>
  static Json json_of(const T& value) {
    Writer writer;
    visit(writer, value);
    return writer.take();
  }

 private:
  Json json_ = Json::object();
};

// ---- reading ----

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

  /// A value that may be missing: then nothing changes.
  template <typename T>
  void may(const char* name, T& value) {
    const Json* const found = find(name);
    if (found != nullptr) take(name, *found, value);
  }

  /// An array of objects that must be there.
  template <typename T>
  void need_array(const char* name, std::vector<T>& into) {
    const Json* const found = find(name);
    if (found == nullptr || !found->is_array()) return complain(fmt::format("no array \"{}\"", name));
    into.reserve(found->size());
    for (std::size_t i = 0; i < found->size() && !problem_; i++) {
      Fields element((*found)[i], fmt::format("{}[{}]", name, i), problem_);
      visit(element, into.emplace_back());
    }
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
  void take(const char* name, const Json& json, double& value) {
    if (!json.is_number()) return wrong(name, "a number");
    value = json.get<double>();
    if (!(value >= 0.0 && value <= 1.0)) wrong(name, "between 0 and 1");
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
