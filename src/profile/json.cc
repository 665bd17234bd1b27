#include "profile/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>

#include "profile/json_fields.h"

namespace loopfold::profile {

namespace {

// ---- the names ----

constexpr std::string_view kNodeKinds[] = {"root", "call", "loop", "recursion"};
constexpr std::string_view kStatementKinds[] = {"code", "allocator", "hidden", "system call"};
constexpr std::string_view kAccessKinds[] = {"load", "store"};
constexpr std::string_view kDependenceKinds[] = {"register", "memory", "control", "environment"};
constexpr std::string_view kObjectKinds[] = {"heap", "global", "stack", "environment", "unknown"};

template <typename Thing, typename Wanted>
concept Is = std::is_same_v<std::remove_const_t<Thing>, Wanted>;

}  // namespace

std::span<const std::string_view> names_of(TreeNode::Kind) { return kNodeKinds; }
std::span<const std::string_view> names_of(Statement::Kind) { return kStatementKinds; }
std::span<const std::string_view> names_of(Access::Kind) { return kAccessKinds; }
std::span<const std::string_view> names_of(Dependence::Kind) { return kDependenceKinds; }
std::span<const std::string_view> names_of(Object::Kind) { return kObjectKinds; }

template <typename Visitor, Is<Program> Thing>
void visit(Visitor& fields, Thing& program) {
  fields.need("argv", program.argv);
  fields.need("exit_status", program.exit_status);
  fields.need("partial", program.partial);
  fields.need("instructions", program.instructions);
  fields.need("threads", program.threads);
}

template <typename Visitor, Is<Quality> Thing>
void visit(Visitor& fields, Thing& quality) {
  fields.need("kind", quality.kind);
  fields.need("text", quality.text);
  fields.need("share", quality.share);
}

template <typename Visitor, Is<GaveUp> Thing>
void visit(Visitor& fields, Thing& gave_up) {
  fields.need("what", gave_up.what);
  fields.need("why", gave_up.why);
  fields.need("share", gave_up.share);
}

template <typename Visitor, Is<TreeNode> Thing>
void visit(Visitor& fields, Thing& node) {
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

template <typename Visitor, Is<Statement> Thing>
void visit(Visitor& fields, Thing& statement) {
  fields.need("id", statement.id);
  fields.need("name", statement.name);
  fields.need("node", statement.node);
  fields.need("source", statement.source);
  fields.need("domain", statement.domain);
  fields.need("exact", statement.exact);
  fields.need("count", statement.count);
  fields.may("kind", statement.kind);
  fields.may("call", statement.call);
  fields.may("loops", statement.loops);
  fields.may("function", statement.function);
  fields.may("instruction", statement.instruction);
  fields.may("instructions", statement.instructions);
  fields.may("ops", statement.ops);
  fields.may("pieces", statement.pieces);
  fields.may("edges", statement.edges);
}

template <typename Visitor, Is<Access> Thing>
void visit(Visitor& fields, Thing& access) {
  fields.need("statement", access.statement);
  fields.need("kind", access.kind);
  fields.need("size", access.size);
  fields.need("object", access.object);
  fields.need("coefficients", access.coefficients);
  fields.need("constant", access.constant);
  fields.need("block_coefficients", access.block_coefficients);
  fields.may("block_constant", access.block_constant);
  fields.need("affine", access.affine);
  fields.need("exact", access.exact);
  fields.may("guarded", access.guarded);
  fields.may("count", access.count);
  fields.may("instruction", access.instruction);
  fields.may("source", access.source);
  fields.may("domain", access.domain);
  fields.may("minimum", access.minimum);
  fields.may("maximum", access.maximum);
  fields.may("block_minimum", access.block_minimum);
  fields.may("block_maximum", access.block_maximum);
  fields.may("pieces", access.pieces);
}

template <typename Visitor, Is<Value> Thing>
void visit(Visitor& fields, Thing& value) {
  fields.need("statement", value.statement);
  fields.need("instruction", value.instruction);
  fields.need("source", value.source);
  fields.need("register", value.reg);
  fields.need("count", value.count);
  fields.need("coefficients", value.coefficients);
  fields.need("affine", value.affine);
  fields.need("exact", value.exact);
  fields.need("pieces", value.pieces);
}

template <typename Visitor, Is<Dependence> Thing>
void visit(Visitor& fields, Thing& dependence) {
  fields.need("from", dependence.from);
  fields.need("to", dependence.to);
  fields.need("kind", dependence.kind);
  fields.need("count", dependence.count);
  fields.need("map", dependence.map);
  fields.need("affine", dependence.affine);
  fields.may("exact", dependence.exact);
  fields.need("source_from", dependence.source_from);
  fields.need("source_to", dependence.source_to);
  fields.need("object", dependence.object);
  fields.may("more_objects", dependence.more_objects);
  fields.need("distance", dependence.distance);
  fields.may("distance_minimum", dependence.distance_minimum);
  fields.may("distance_maximum", dependence.distance_maximum);
  fields.may("carried", dependence.carried);
  fields.may("instruction_from", dependence.instruction_from);
  fields.may("instruction_to", dependence.instruction_to);
  fields.may("operand", dependence.operand);
  fields.may("lane", dependence.lane);
  fields.may("address", dependence.address);
  fields.may("pieces", dependence.pieces);
}

template <typename Visitor, Is<Object> Thing>
void visit(Visitor& fields, Thing& object) {
  fields.need("id", object.id);
  fields.need("kind", object.kind);
  fields.need("name", object.name);
  fields.may("type", object.type);
  fields.need("size", object.size);
  fields.need("blocks", object.blocks);
  fields.need("source", object.source);
}

namespace {

// ---- writing ----

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

template <typename T>
void write_section(std::string& text, std::string_view name, const std::vector<T>& elements) {
  Section section(text, name);
  for (const T& element : elements) section.add(Writer::json_of(element));
  section.close();
}

std::string opening(const Profile& profile) {
  std::string text = fmt::format("{{\"schema\": \"{}\"", kSchema);
  text += ",\n\"program\": " + Writer::json_of(profile.program).dump();
  write_section(text, "quality", profile.quality);
  write_section(text, "gave_up", profile.gave_up);
  return text;
}

constexpr std::string_view kClosing = "\n}\n";

// ---- reading ----

/// Is the tree one, in the order that profile.h promises, and are the counts of its nodes made up of their parts?
std::optional<std::string> contradiction_in_tree(const std::vector<TreeNode>& tree) {
  const auto at = [](std::size_t i, std::string_view what) { return fmt::format("tree[{}]: {}", i, what); };
  std::vector<std::uint64_t> rest;  // of a node's ops: what neither it nor children before this one account for
  std::vector<std::uint32_t> path;  // to the node before
  for (std::size_t i = 0; i < tree.size(); i++) {
    const TreeNode& node = tree[i];
    if (node.id != i) return at(i, fmt::format("its id is {}, not its place", node.id));
    if ((i == 0) != (node.kind == TreeNode::Kind::kRoot)) return at(i, i == 0 ? "not the root" : "a second root");
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

/// A number that must be one of so many elements.
struct Reference {
  std::string_view section;
  std::size_t at;
  std::string_view name;
  std::uint64_t number;
  std::size_t elements;
};

std::optional<std::string> dangling(std::initializer_list<Reference> references) {
  for (const Reference& reference : references) {
    if (reference.number < reference.elements) continue;
    return fmt::format("{}[{}]: \"{}\" is {}, of {}", reference.section, reference.at, reference.name, reference.number,
                       reference.elements);
  }
  return std::nullopt;
}

/// Do all numbers refer to something that is there, and are the vectors of a statement as long as it has coordinates?
std::optional<std::string> contradiction_in_graph(const Profile& profile) {
  const std::size_t nodes = profile.tree.size();
  const std::size_t statements = profile.statements.size();
  const std::size_t objects = profile.objects.size();
  std::optional<std::string> problem;
  for (std::size_t i = 0; i < statements && !problem; i++) {
    const Statement& statement = profile.statements[i];
    if (statement.id != i) return fmt::format("statements[{}]: its id is {}, not its place", i, statement.id);
    problem = dangling({{"statements", i, "node", statement.node, nodes}});
    for (const std::optional<std::uint32_t>& loop : statement.loops)
      if (loop && !problem) problem = dangling({{"statements", i, "loops", *loop, nodes}});
  }
  for (std::size_t i = 0; i < objects; i++)
    if (profile.objects[i].id != i)
      return fmt::format("objects[{}]: its id is {}, not its place", i, profile.objects[i].id);
  for (std::size_t i = 0; i < profile.accesses.size() && !problem; i++) {
    const Access& access = profile.accesses[i];
    problem = dangling({{"accesses", i, "statement", access.statement, statements},
                        {"accesses", i, "object", access.object, objects}});
  }
  for (std::size_t i = 0; i < profile.values.size() && !problem; i++)
    problem = dangling({{"values", i, "statement", profile.values[i].statement, statements}});
  for (std::size_t i = 0; i < profile.dependences.size() && !problem; i++) {
    const Dependence& dependence = profile.dependences[i];
    problem = dangling({{"dependences", i, "to", dependence.to, statements},
                        {"dependences", i, "from", dependence.from.value_or(dependence.to), statements}});
    if (dependence.object && !problem) problem = dangling({{"dependences", i, "object", *dependence.object, objects}});
    for (const Carried& carried : dependence.carried)
      if (carried.node && !problem) problem = dangling({{"dependences", i, "carried", *carried.node, nodes}});
  }
  return problem;
}

/// What the stages behind structure add. It is there as a whole or not at all.
void read_graph(Fields& fields, Profile& profile) {
  profile.folded = fields.find("statements") != nullptr;
  if (!profile.folded) return;
  fields.need_array("statements", profile.statements);
  fields.need_array("accesses", profile.accesses);
  if (fields.find("values") != nullptr) fields.need_array("values", profile.values);
  fields.need_array("dependences", profile.dependences);
  fields.need_array("objects", profile.objects);
}

Profile read_document(const Json& json, std::optional<std::string>& problem) {
  Profile profile;
  Fields fields(json, "", problem);
  std::string schema;
  fields.need("schema", schema);
  if (schema != kSchema) fields.complain(fmt::format("its schema is not {}", kSchema));
  fields.need("program", profile.program);
  fields.need_array("quality", profile.quality);
  if (fields.find("gave_up") != nullptr) fields.need_array("gave_up", profile.gave_up);
  fields.need_array("tree", profile.tree);
  read_graph(fields, profile);
  if (!problem && profile.tree.empty()) problem = "the tree has no root";
  if (!problem) problem = contradiction_in_tree(profile.tree);
  if (!problem) problem = contradiction_in_graph(profile);
  return profile;
}

/// For the parser: sections that the tree does without are read over, and nothing of them is kept.
bool keep_tree(int depth, Json::parse_event_t event, Json& parsed) {
  static constexpr std::string_view kGraph[] = {"statements", "accesses", "values", "dependences", "objects"};
  if (depth != 1 || event != Json::parse_event_t::key) return true;
  return std::find(std::begin(kGraph), std::end(kGraph), parsed.get<std::string>()) == std::end(kGraph);
}

std::size_t line_of(std::string_view text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

}  // namespace

std::string_view kind_name(TreeNode::Kind kind) { return kNodeKinds[static_cast<std::size_t>(kind)]; }
std::string_view kind_name(Statement::Kind kind) { return kStatementKinds[static_cast<std::size_t>(kind)]; }
std::string_view kind_name(Access::Kind kind) { return kAccessKinds[static_cast<std::size_t>(kind)]; }
std::string_view kind_name(Dependence::Kind kind) { return kDependenceKinds[static_cast<std::size_t>(kind)]; }
std::string_view kind_name(Object::Kind kind) { return kObjectKinds[static_cast<std::size_t>(kind)]; }

Json to_json(const TreeNode& node) { return Writer::json_of(node); }

std::string to_json_text(const Profile& profile) {
  std::string text = opening(profile);
  write_section(text, "tree", profile.tree);
  if (profile.folded) {
    write_section(text, "statements", profile.statements);
    write_section(text, "accesses", profile.accesses);
    write_section(text, "values", profile.values);
    write_section(text, "dependences", profile.dependences);
    write_section(text, "objects", profile.objects);
  }
  text += kClosing;
  return text;
}

std::string to_json_text(const Profile& profile, const std::vector<bool>& shown) {
  std::string text = opening(profile);
  Section tree(text, "tree");
  for (std::size_t i = 0; i < profile.tree.size(); i++)
    if (shown[i]) tree.add(to_json(profile.tree[i]));
  tree.close();
  text += kClosing;
  return text;
}

Result<Profile> from_json_text(std::string_view text, const std::string& name, Parts parts) {
  const auto bad = [&](const std::string& what) {
    return fail(ErrorKind::kBadInput, fmt::format("{}: not a profile: {}; write it again from its trace", name, what));
  };
  Json json;
  try {
    json = parts == Parts::kAll ? Json::parse(text) : Json::parse(text, keep_tree);
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

Result<Profile> read_profile(const std::string& path, Parts parts) {
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
  return from_json_text(text, path, parts);
}

}  // namespace loopfold::profile
