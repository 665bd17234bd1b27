// Texts of the profile, with the names of its statements replaced by those of the description.
#include "profile_flow.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace loopfold::oracle {

namespace {

using Json = nlohmann::json;

class Reader {
 public:
  Reader(isl::ctx context, const Json& profile, const Description& description)
      : context_(context), profile_(profile), description_(description) {
    into_.domains = isl::union_set(context, "{ }");
    into_.flow = isl::union_map(context, "{ }");
  }

  ProfileFlow read() {
    for (const Json& statement : profile_.at("statements")) add_domain(statement);
    for (const Json& dependence : profile_.at("dependences")) add_dependence(dependence);
    into_.flow = into_.flow.subtract(into_.domains.identity());
    return into_;
  }

 private:
  /// The static statement at a source, if it is in `depth` loops.
  const StaticStatement* at(const Json& source, std::size_t depth) const {
    if (source.is_null()) return nullptr;
    const std::string file = source.at("file");
    if (file.substr(file.rfind('/') + 1) != description_.file) return nullptr;
    const StaticStatement* const found = description_.at_line(source.at("line"));
    return found != nullptr && found->counters.size() == depth ? found : nullptr;
  }

  std::size_t depth(const Json& id) const {
    return profile_.at("statements").at(id.get<std::size_t>()).at("loops").size();
  }

  /// From the profile's name of a statement to the description's.
  isl::union_map renaming(const Json& id, const StaticStatement& statement) const {
    const std::string counters = fmt::format("[{}]", fmt::join(statement.counters, ", "));
    return isl::union_map(
        context_, fmt::format("{{ S{}{} -> {}{} }}", id.get<std::size_t>(), counters, statement.name, counters));
  }

  void add_domain(const Json& statement) {
    for (const Json& source : statement.at("source")) {
      const StaticStatement* const found = at(source, depth(statement.at("id")));
      if (found == nullptr) continue;
      into_.exact = into_.exact && statement.at("exact").get<bool>();
      const isl::union_set domain(context_, statement.at("domain").get<std::string>());
      into_.domains = into_.domains.unite(domain.apply(renaming(statement.at("id"), *found)));
    }
  }

  bool through_the_stack(const Json& dependence) const {
    const Json& object = dependence.at("object");
    return !object.is_null() && profile_.at("objects").at(object.get<std::size_t>()).at("kind") == "stack";
  }

  void add_dependence(const Json& dependence) {
    if (dependence.at("kind") != "memory" || through_the_stack(dependence)) return;
    const StaticStatement* const from = at(dependence.at("source_from"), depth(dependence.at("from")));
    const StaticStatement* const to = at(dependence.at("source_to"), depth(dependence.at("to")));
    if (from == nullptr || to == nullptr) return;
    into_.exact = into_.exact && dependence.value("exact", true);
    const isl::union_map map(context_, dependence.at("map").get<std::string>());
    into_.flow = into_.flow.unite(
        map.apply_domain(renaming(dependence.at("from"), *from)).apply_range(renaming(dependence.at("to"), *to)));
  }

  isl::ctx context_;
  const Json& profile_;
  const Description& description_;
  ProfileFlow into_;
};

}  // namespace

Result<ProfileFlow> profile_flow(isl::ctx context, const std::string& directory, const Description& description) {
  std::ifstream stream(directory + "/profile.json");
  const Json profile = Json::parse(stream, nullptr, false);
  if (profile.is_discarded()) return fail(ErrorKind::kBadInput, directory + "/profile.json: cannot be read");
  return Reader(context, profile, description).read();
}

}  // namespace loopfold::oracle
