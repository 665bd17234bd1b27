#include "profile/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "support/utf8.h"

namespace loopfold::profile {

namespace {

using Json = nlohmann::ordered_json;
using Kind = TreeNode::Kind;

constexpr std::pair<Kind, std::string_view> kKinds[] = {
    {Kind::kRoot, "root"}, {Kind::kCall, "call"}, {Kind::kLoop, "loop"}, {Kind::kRecursion, "recursion"}};

// ---- writing ----

Json strings(const std::vector<std::string>& texts) {
  Json array = Json::array();
  for (const std::string& text : texts) array.push_back(valid_utf8(text));
  return array;
}

Json to_json(const std::optional<Source>& source) {
  if (!source) return nullptr;
  return {{"file", valid_utf8(source->file)}, {"line", source->line}};
}

Json to_json(const Counts& counts) { return {{"min", counts.min}, {"max", counts.max}, {"total", counts.total}}; }

Json to_json(const Program& program) {
  return {{"argv", strings(program.argv)},
          {"exit_status", program.exit_status ? Json(*program.exit_status) : Json()},
          {"partial", program.partial},
          {"instructions", program.instructions},
          {"threads", program.threads}};
}

Json to_json(const Quality& quality) {
  const double share = std::isfinite(quality.share) ? std::clamp(quality.share, 0.0, 1.0) : 0.0;
  return {{"kind", valid_utf8(quality.kind)}, {"text", valid_utf8(quality.text)}, {"share", share}};
}

/// `"name": [` and its elements, one per line.
class Section {
 public:
  Section(std::string& text, std::string_view name) : text_(text) { text_ += fmt::format(",\n\"{}\": [", name); }
  void add(const Json& element) {
    text_ += first_ ? "\n" : ",\n";
    text_ += element.dump();
    first_ = false;
  }
  void close() { text_ += first_ ? "]" : "\n]"; }

 private:
  std::string& text_;
  bool first_ = true;
};

template <typename Shown>
std::string document(const Profile& profile, Shown shown) {
  std::string text = fmt::format("{{\"schema\": \"{}\"", kSchema);
  text += ",\n\"program\": " + to_json(profile.program).dump();
  Section quality(text, "quality");
  for (const Quality& remark : profile.quality) quality.add(to_json(remark));
  quality.close();
  Section(text, "gave_up").close();
  Section tree(text, "tree");
  for (std::size_t i = 0; i < profile.tree.size(); i++) {
    if (shown(i)) tree.add(to_json(profile.tree[i]));
  }
  tree.close();
  return text + "\n}\n";
}

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

  /// Calls `element` with each element of an array that must be there, and what to call it.
  template <typename Element>
  void need_array(const char* name, Element element) {
    const Json* const found = find(name);
    if (found == nullptr || !found->is_array()) return complain(fmt::format("no array \"{}\"", name));
    for (std::size_t i = 0; i < found->size() && !problem_; i++) element((*found)[i], fmt::format("{}[{}]", name, i));
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
  void wrong(const char* name, const char* wanted) { complain(fmt::format("\"{}\" is not {}", name, wanted)); }

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
  void take(const char* name, const Json& json, int& value) {
    const bool large = json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<int>::max();
    if (!json.is_number_integer() || large) return wrong(name, "a small whole number");
    const auto number = json.get<std::int64_t>();
    if (number < std::numeric_limits<int>::min()) return wrong(name, "a small whole number");
    value = static_cast<int>(number);
  }
  void take(const char* name, const Json& json, Kind& value) {
    std::string text;
    take(name, json, text);
    const auto same = [&](const auto& kind) { return kind.second == text; };
    const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds), same);
    if (found == std::end(kKinds)) return wrong(name, "root, call, loop or recursion");
    value = found->first;
  }
  void take(const char* name, const Json& json, Counts& value) {
    Fields counts(json, within(name), problem_);
    counts.need("min", value.min);
    counts.need("max", value.max);
    counts.need("total", value.total);
  }
  void take(const char* name, const Json& json, Source& value) {
    Fields source(json, within(name), problem_);
    source.need("file", value.file);
    source.need("line", value.line);
  }
  void take(const char* name, const Json& json, std::vector<std::string>& value) {
    if (!json.is_array()) return wrong(name, "an array of strings");
    for (const Json& text : json) {
      if (!text.is_string()) return wrong(name, "an array of strings");
      value.push_back(text.get<std::string>());
    }
  }
  template <typename T>
  void take(const char* name, const Json& json, std::optional<T>& value) {
    value.reset();
    if (!json.is_null()) take(name, json, value.emplace());
  }

  std::string within(const char* name) const { return where_.empty() ? name : fmt::format("{}: {}", where_, name); }

  const Json& json_;
  std::string where_;
  std::optional<std::string>& problem_;
};

void read_program(const Json& json, Program& program, std::optional<std::string>& problem) {
  Fields fields(json, "program", problem);
  fields.need("argv", program.argv);
  fields.need("exit_status", program.exit_status);
  fields.need("partial", program.partial);
  fields.need("instructions", program.instructions);
  fields.need("threads", program.threads);
}

void read_node(Fields& fields, TreeNode& node) {
  fields.need("id", node.id);
  fields.need("parent", node.parent);
  fields.need("kind", node.kind);
  fields.need("function", node.function);
  fields.may("module", node.module);
  fields.need("source", node.source);
  fields.may("call_site", node.call_site);
  fields.may("inlined", node.inlined);
  fields.may("origin", node.origin);
  fields.may("address", node.address);
  fields.may("depth_binary", node.depth_binary);
  fields.may("depth_source", node.depth_source);
  fields.may("irreducible", node.irreducible);
  fields.may("index", node.index);
  fields.need("ops", node.ops);
  fields.need("self_ops", node.self_ops);
  fields.need("mem_ops", node.mem_ops);
  fields.may("self_mem_ops", node.self_mem_ops);
  fields.need("fp_ops", node.fp_ops);
  fields.may("self_fp_ops", node.self_fp_ops);
  fields.need("entries", node.entries);
  fields.need("iterations", node.iterations);
  fields.may("iterations_per_entry", node.iterations_per_entry);
  fields.may("trip", node.trip);
}

/// Is the tree one, in the order that profile.h promises, and are the counts of its nodes made up of their parts?
std::optional<std::string> contradiction(const std::vector<TreeNode>& tree) {
  const auto at = [](std::size_t i, std::string_view what) { return fmt::format("tree[{}]: {}", i, what); };
  std::vector<std::uint64_t> rest;  // of a node's ops: what neither it nor children before this one account for
  std::vector<std::uint32_t> path;  // to the node before
  for (std::size_t i = 0; i < tree.size(); i++) {
    const TreeNode& node = tree[i];
    if (node.id != i) return at(i, fmt::format("its id is {}, not its place", node.id));
    if ((i == 0) != (node.kind == Kind::kRoot)) return at(i, i == 0 ? "not the root" : "a second root");
    if (node.parent.has_value() == (i == 0)) return at(i, i == 0 ? "the root has a parent" : "no parent");
    if (node.self_ops > node.ops) return at(i, "more instructions of its own than in all");
    while (!path.empty() && path.back() != node.parent) path.pop_back();
    if (i != 0 && path.empty()) return at(i, "its parent is not the node before it, nor on the way to that");
    if (i != 0 && node.ops > rest[path.back()]) return at(i, "more instructions than its parent has left");
    if (i != 0) rest[path.back()] -= node.ops;
    rest.push_back(node.ops - node.self_ops);
    path.push_back(static_cast<std::uint32_t>(i));
  }
  const auto unaccounted = std::find_if(rest.begin(), rest.end(), [](std::uint64_t ops) { return ops != 0; });
  if (unaccounted == rest.end()) return std::nullopt;
  return at(static_cast<std::size_t>(unaccounted - rest.begin()), "its instructions are not those of its parts");
}

Profile read_document(const Json& json, std::optional<std::string>& problem) {
  Profile profile;
  Fields fields(json, "", problem);
  std::string schema;
  fields.need("schema", schema);
  if (schema != kSchema) fields.complain(fmt::format("its schema is not {}", kSchema));
  const Json* const program = fields.find("program");
  if (program == nullptr) fields.complain("no \"program\"");
  if (!problem) read_program(*program, profile.program, problem);
  fields.need_array("quality", [&](const Json& element, std::string where) {
    Quality& quality = profile.quality.emplace_back();
    Fields remark(element, std::move(where), problem);
    remark.need("kind", quality.kind);
    remark.need("text", quality.text);
    remark.need("share", quality.share);
  });
  fields.need_array("tree", [&](const Json& element, std::string where) {
    Fields node(element, std::move(where), problem);
    read_node(node, profile.tree.emplace_back());
  });
  if (!problem && profile.tree.empty()) problem = "the tree has no root";
  if (!problem) problem = contradiction(profile.tree);
  return profile;
}

std::size_t line_of(std::string_view text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

}  // namespace

std::string_view kind_name(Kind kind) {
  const auto same = [&](const auto& entry) { return entry.first == kind; };
  const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds), same);
  return found == std::end(kKinds) ? "root" : found->second;
}

Json to_json(const TreeNode& node) {
  return {{"id", node.id},
          {"parent", node.parent ? Json(*node.parent) : Json()},
          {"kind", kind_name(node.kind)},
          {"function", valid_utf8(node.function)},
          {"module", valid_utf8(node.module)},
          {"source", to_json(node.source)},
          {"call_site", to_json(node.call_site)},
          {"inlined", strings(node.inlined)},
          {"origin", valid_utf8(node.origin)},
          {"address", node.address},
          {"depth_binary", node.depth_binary},
          {"depth_source", node.depth_source},
          {"irreducible", node.irreducible},
          {"index", node.index},
          {"ops", node.ops},
          {"self_ops", node.self_ops},
          {"mem_ops", node.mem_ops},
          {"self_mem_ops", node.self_mem_ops},
          {"fp_ops", node.fp_ops},
          {"self_fp_ops", node.self_fp_ops},
          {"entries", node.entries},
          {"iterations", node.iterations},
          {"iterations_per_entry", to_json(node.iterations_per_entry)},
          {"trip", to_json(node.trip)}};
}

std::string to_json_text(const Profile& profile) {
  return document(profile, [](std::size_t) { return true; });
}

std::string to_json_text(const Profile& profile, const std::vector<bool>& shown) {
  return document(profile, [&](std::size_t i) { return shown[i]; });
}

Result<Profile> from_json_text(std::string_view text, const std::string& name) {
  const auto bad = [&](const std::string& what) {
    return fail(ErrorKind::kBadInput, fmt::format("{}: not a profile: {}; write it again from its trace", name, what));
  };
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    if (error.byte >= text.size()) return bad("cut off");
    return bad(fmt::format("no valid JSON in line {} (byte {})", line_of(text, error.byte), error.byte));
  } catch (const Json::exception&) {
    return bad("a number that is too large");
  }
  std::optional<std::string> problem;
  Profile profile = read_document(json, problem);
  if (problem) return bad(*problem);
  return profile;
}

Result<Profile> read_profile(const std::string& path) {
  const auto cannot = [&](int error) {
    const bool missing = error == ENOENT || error == ENOTDIR || error == EISDIR;
    return fail(missing ? ErrorKind::kBadInput : ErrorKind::kEnvironment,
                fmt::format("{}: cannot be read: {}", path, std::strerror(error)));
  };
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return cannot(errno);
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file)) text.append(buffer.data(), got);
  const int error = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (error != 0) return cannot(error);
  return from_json_text(text, path);
}

}  // namespace loopfold::profile
