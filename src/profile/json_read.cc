// Reading a profile: the document is parsed event by event, an element of a section becomes a struct as soon as it is
// complete, and sections that are not wanted are read over. So no more than one element is in memory as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "profile/json.h"
#include "profile/json_fields.h"

namespace loopfold::profile {

namespace {

// ---- what contradicts itself ----

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

/// Do all numbers refer to something that is there?
std::optional<std::string> contradiction_in_graph(const Profile& profile) {
  const std::size_t nodes = profile.tree.size();
  const std::size_t statements = profile.statements.size();
  const std::size_t objects = profile.objects.size();
  std::optional<std::string> problem;
  for (std::size_t i = 0; i < statements && !problem; i++) {
    const Statement& statement = profile.statements[i];
    if (statement.id != i) return fmt::format("statements[{}]: its id is {}, not its place", i, statement.id);
    problem = dangling({{"statements", i, "node", statement.node, nodes}});
    if (statement.code && !problem)
      problem = dangling({{"statements", i, "code", *statement.code, profile.code.size()}});
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

std::optional<std::string> contradiction_in_loop(const Loop& loop, const Profile& profile, std::size_t region) {
  const std::size_t nodes = profile.tree.size();
  const std::size_t objects = profile.objects.size();
  if (loop.nodes.empty() || loop.nodes.front() != loop.node)
    return fmt::format("regions[{}]: a loop's node is not the first of its nodes", region);
  std::optional<std::string> problem;
  for (const std::uint32_t node : loop.nodes)
    if (!problem) problem = dangling({{"regions", region, "nodes", node, nodes}});
  const auto check_object = [&](const std::optional<std::uint32_t>& object) {
    if (object && !problem) problem = dangling({{"regions", region, "object", *object, objects}});
  };
  for (const Blocking& blocking : loop.blocking) check_object(blocking.object);
  for (const std::vector<Touched>* list : {&loop.privates, &loop.expand, &loop.reload})
    for (const Touched& touched : *list) check_object(touched.object);
  return problem;
}

/// Nodes and statements that are named are there.
std::optional<std::string> contradiction_in_advice(const Region& region, const Profile& profile, std::size_t number) {
  const std::size_t nodes = profile.tree.size();
  std::optional<std::string> problem;
  const auto check_node = [&](std::uint64_t node) {
    if (!problem) problem = dangling({{"regions", number, "node", node, nodes}});
  };
  for (const Suggestion& suggestion : region.suggestions) {
    for (const std::uint32_t node : suggestion.loops) check_node(node);
    for (const Requirement& requirement : suggestion.requirements)
      if (requirement.loop) check_node(*requirement.loop);
  }
  if (!region.transformed) return problem;
  for (const std::vector<std::uint32_t>& pair : region.transformed->interchange) {
    if (pair.size() != 2) return fmt::format("regions[{}]: an interchange is not of two loops", number);
    for (const std::uint32_t node : pair) check_node(node);
  }
  for (const std::vector<std::int64_t>& skew : region.transformed->skew) {
    if (skew.size() != 3 || skew[0] < 0 || skew[1] < 0)
      return fmt::format("regions[{}]: a skew is not two loops and a factor", number);
    for (const std::size_t i : {0, 1}) check_node(static_cast<std::uint64_t>(skew[i]));
  }
  for (const Band& band : region.transformed->bands)
    for (const BandMember& member : band.members)
      for (const BandMember::Term& term : member.terms) check_node(term.node);
  return problem;
}

std::optional<std::string> contradiction_in_regions(const Profile& profile) {
  for (std::size_t i = 0; i < profile.regions.size(); i++) {
    const Region& region = profile.regions[i];
    if (region.id != i) return fmt::format("regions[{}]: its id is {}, not its place", i, region.id);
    std::optional<std::string> problem = dangling({{"regions", i, "node", region.node, profile.tree.size()}});
    if (problem) return problem;
    if (region.loops.empty()) return fmt::format("regions[{}]: no loops", i);
    for (const Loop& loop : region.loops)
      if ((problem = contradiction_in_loop(loop, profile, i))) return problem;
    if ((problem = contradiction_in_advice(region, profile, i))) return problem;
  }
  return std::nullopt;
}

// ---- events to structs ----

/// Builds one JSON value from events.
class ValueBuilder {
 public:
  void value(Json value) { add(std::move(value)); }
  void open(Json container) { open_.push_back(add(std::move(container))); }
  void close() { open_.pop_back(); }
  void key(std::string& name) { key_ = std::move(name); }
  bool complete() const { return open_.empty(); }
  Json& result() { return root_; }

 private:
  Json* add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& into = *open_.back();
    if (into.is_array()) {
      into.push_back(std::move(value));
      return &into.back();
    }
    Json& member = into[key_];
    member = std::move(value);
    return &member;
  }

  Json root_;
  std::vector<Json*> open_;  // containers that are not closed: the last element of each is the next
  std::string key_;
};

/// Takes the events of a document: for nlohmann's parser, which stops where a function returns false.
class DocumentReader {
 public:
  explicit DocumentReader(Parts parts) {
    single("schema", [this](const Json& json) { check_schema(json); });
    single("program", [this](const Json& json) {
      Fields fields(json, "program", problem_);
      visit(fields, profile_.program);
    });
    section("quality", profile_.quality);
    section("gave_up", profile_.gave_up);
    section("tree", profile_.tree);
    if (parts == Parts::kTree) return;
    single("regions_min_percent", [this](const Json& json) { take_min_percent(json); });
    section("regions", profile_.regions);
    section("objects", profile_.objects);
    if (parts == Parts::kReport) return;
    section("code", profile_.code);
    section("statements", profile_.statements);
    section("accesses", profile_.accesses);
    section("values", profile_.values);
    section("dependences", profile_.dependences);
  }

  // What the parser calls.
  bool null() { return value(nullptr); }
  bool boolean(bool value_of) { return value(value_of); }
  bool number_integer(std::int64_t number) { return value(number); }
  bool number_unsigned(std::uint64_t number) { return value(number); }
  bool number_float(double number, const std::string&) { return value(number); }
  bool string(std::string& text) { return value(std::move(text)); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name);
  bool parse_error(std::size_t at, const std::string&, const Json::exception& error);

  /// Behind the last event: is something missing, or does something contradict itself?
  void finish();

  const std::optional<std::string>& problem() const { return problem_; }
  std::optional<std::size_t> error_at() const { return error_at_; }
  Profile take() { return std::move(profile_); }

 private:
  /// What to do with a member of the document.
  struct Member {
    bool elements = false;                               // it is an array, and `take` wants its elements
    std::function<void(const Json&, std::size_t)> take;  // with the number of the element
    bool seen = false;
  };

  template <typename Take>
  void single(const char* name, Take take) {
    members_[name] = {false, [take](const Json& json, std::size_t) { take(json); }, false};
  }

  template <typename T>
  void section(const char* name, std::vector<T>& into) {
    members_[name] = {true,
                      [this, name, &into](const Json& json, std::size_t number) {
                        Fields fields(json, fmt::format("{}[{}]", name, number), problem_);
                        visit(fields, into.emplace_back());
                      },
                      false};
  }

  void complain(const std::string& what) {
    if (!problem_) problem_ = what;
  }
  void check_schema(const Json& json) {
    if (json != kSchema) complain(fmt::format("its schema is not {}", kSchema));
  }
  void take_min_percent(const Json& json) {
    if (!json.is_number() || json.get<double>() < 0 || json.get<double>() > 100)
      return complain("\"regions_min_percent\" is not between 0 and 100");
    profile_.regions_min_percent = json.get<double>();
  }
  bool seen(const char* name) const {
    const auto found = members_.find(name);
    return found != members_.end() && found->second.seen;
  }

  bool open(Json container);
  bool close();
  bool value(Json json);
  bool taken();

  /// Depth at which what `take` wants starts: 1 in the document, 2 in a section.
  std::size_t base() const { return member_ != nullptr && member_->elements ? 2 : 1; }

  Profile profile_;
  std::optional<std::string> problem_;
  std::optional<std::size_t> error_at_;
  std::map<std::string, Member, std::less<>> members_;
  Member* member_ = nullptr;  // that is being read; null: one that is read over
  std::string member_name_;
  std::size_t elements_ = 0;  // of it, so far
  std::size_t depth_ = 0;     // of containers that are open
  ValueBuilder builder_;
};

bool DocumentReader::key(std::string& name) {
  if (depth_ > 1) {
    if (member_ != nullptr) builder_.key(name);
    return true;
  }
  const auto found = members_.find(name);
  member_ = found == members_.end() ? nullptr : &found->second;
  if (member_ != nullptr) member_->seen = true;
  member_name_ = std::move(name);
  elements_ = 0;
  return true;
}

bool DocumentReader::open(Json container) {
  if (depth_ == 0 && !container.is_object()) complain("not an object");
  if (depth_ == 1 && member_ != nullptr && member_->elements && !container.is_array())
    complain(fmt::format("no array \"{}\"", member_name_));
  if (depth_ != 0 && member_ != nullptr && depth_ >= base()) builder_.open(std::move(container));
  depth_++;
  return !problem_;
}

bool DocumentReader::close() {
  depth_--;
  if (depth_ == 0 || member_ == nullptr || depth_ < base()) return true;
  builder_.close();
  return taken();
}

bool DocumentReader::value(Json json) {
  if (depth_ == 0) complain("not an object");
  if (depth_ == 1 && member_ != nullptr && member_->elements) complain(fmt::format("no array \"{}\"", member_name_));
  if (problem_ || member_ == nullptr) return !problem_;
  builder_.value(std::move(json));
  return taken();
}

/// If what was built is complete, it is taken.
bool DocumentReader::taken() {
  if (builder_.complete()) member_->take(builder_.result(), elements_++);
  return !problem_;
}

bool DocumentReader::parse_error(std::size_t at, const std::string&, const Json::exception& error) {
  constexpr int kNumberTooLarge = 406;
  if (error.id == kNumberTooLarge)
    complain("a number that is too large");
  else
    error_at_ = at;
  return false;
}

void DocumentReader::finish() {
  for (const char* name : {"schema", "program"})
    if (!seen(name)) complain(fmt::format("no \"{}\"", name));
  for (const char* name : {"quality", "tree"})
    if (!seen(name)) complain(fmt::format("no array \"{}\"", name));
  profile_.folded = seen("statements");
  for (const char* name : {"accesses", "dependences", "objects"})
    if (profile_.folded && !seen(name)) complain(fmt::format("no array \"{}\"", name));
  if (!problem_ && profile_.tree.empty()) problem_ = "the tree has no root";
  if (!problem_) problem_ = contradiction_in_tree(profile_.tree);
  if (!problem_ && profile_.folded) problem_ = contradiction_in_graph(profile_);
  profile_.judged = seen("regions");
  if (profile_.judged && !seen("objects")) complain("no array \"objects\"");
  if (!problem_ && profile_.judged) problem_ = contradiction_in_regions(profile_);
}

std::size_t line_of(std::string_view text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

}  // namespace

Result<Profile> from_json_text(std::string_view text, const std::string& name, Parts parts) {
  const auto bad = [&](const std::string& what) {
    return fail(ErrorKind::kBadInput, fmt::format("{}: not a profile: {}; write it again from its trace", name, what));
  };
  DocumentReader document(parts);
  const bool whole = Json::sax_parse(text, &document);
  if (const std::optional<std::size_t> byte = document.error_at()) {
    if (*byte >= text.size()) return bad("cut off");
    return bad(fmt::format("no valid JSON in line {} (byte {})", line_of(text, *byte), *byte));
  }
  if (whole) document.finish();
  if (document.problem()) return bad(*document.problem());
  return document.take();
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
