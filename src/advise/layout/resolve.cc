#include "advise/layout/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/layout/source.h"

namespace loopfold::layout {

namespace {

tl::unexpected<Error> refuse(const std::string& file, const Place& place, std::string_view why) {
  return fail(ErrorKind::kBadInput, fmt::format("{}:{}:{}: #pragma layout: {}", file, place.line, place.column, why));
}

Probe probe_of(const Directive& directive) {
  Probe probe;
  probe.begin = directive.begin;
  probe.end = directive.end;
  std::set<std::string> sizes;
  for (const MapClause& map : directive.maps) {
    probe.arrays.push_back({map.array, map.field, map.type, map.indices.size()});
    sizes.merge(phi_of(map).parameters());
  }
  probe.sizes.assign(sizes.begin(), sizes.end());
  return probe;
}

/// What stands in brackets directly behind a declared name, where it can be understood: `A[n][m + 1]`.
std::vector<std::optional<QuasiAffine>> declared_extents(std::string_view text, std::size_t name) {
  std::vector<std::optional<QuasiAffine>> result;
  std::size_t at = name;
  while (at < text.size() && continues_name(text[at])) at++;
  for (at = skip_blank(text, at, text.size()); at < text.size() && text[at] == '[';
       at = skip_blank(text, at, text.size())) {
    const std::size_t close = text.find(']', at);
    if (close == std::string_view::npos) break;
    std::string inside(text.substr(at + 1, close - at - 1));
    for (const std::string_view word : {"static", "restrict", "const"})
      if (const std::size_t found = inside.find(word); found != std::string::npos) inside.erase(found, word.size());
    const Result<Directive> parsed = parse_directive("", fmt::format("map(in: x(y__) -> (y__) : int[{}])", inside));
    result.push_back(parsed ? std::optional(parsed->maps[0].extents[0]) : std::nullopt);
    at = close + 1;
  }
  return result;
}

/// Behind `(*A)`: the dimensions of what it points to.
std::vector<std::optional<QuasiAffine>> pointed_extents(std::string_view text, std::size_t name) {
  std::size_t at = name;
  while (at < text.size() && continues_name(text[at])) at++;
  at = skip_blank(text, at, text.size());
  if (at >= text.size() || text[at] != ')') return {};
  std::vector<std::optional<QuasiAffine>> result = {std::nullopt};
  for (std::optional<QuasiAffine>& extent : declared_extents(text, at + 1)) result.push_back(std::move(extent));
  return result;
}

class Checker {
 public:
  Checker(const std::string& file, std::string_view text, const Probe& probe, Resolved& resolved)
      : file_(file), text_(text), probe_(probe), resolved_(resolved) {}

  Result<void> check() {
    const Directive& directive = *resolved_.directive;
    for (std::size_t i = 0; i < directive.maps.size(); i++)
      if (Result<void> good = check_array(directive.maps[i], probe_.found[i]); !good) return good;
    for (std::size_t i = 0; i < probe_.sizes.size(); i++) {
      const ProbedSize& size = probe_.found_sizes[i];
      if (!size.exists)
        return refuse(file_, directive.place, fmt::format("no integer '{}' is known here", probe_.sizes[i]));
      if (size.known) resolved_.known[probe_.sizes[i]] = size.value;
    }
    for (std::size_t i = 0; i < directive.maps.size(); i++)
      if (Result<void> good = check_sizes(directive.maps[i], probe_.found[i]); !good) return good;
    return {};
  }

 private:
  Result<void> check_array(const MapClause& map, const ProbedArray& found) {
    if (!found.error.empty()) return refuse(file_, map.place, found.error);
    if (found.declaration.empty())
      return refuse(file_, map.place, fmt::format("'{}' is not an array of this function or file", map.array));
    if (found.dimensions.size() != map.indices.size())
      return refuse(file_, map.place,
                    fmt::format("'{}' has {} dimensions, and the map has {} indices", map.array,
                                found.dimensions.size(), map.indices.size()));
    if (found.element != found.type)
      return refuse(file_, map.type_place,
                    fmt::format("the elements of '{}' are of type {}, not {}", map.array, found.element, found.type));
    if (found.in_union)
      return refuse(file_, map.place,
                    fmt::format("'{}.{}' is in a union: its bytes have other names too", map.array, map.field));
    if (found.is_volatile) return refuse(file_, map.place, fmt::format("'{}' is volatile", map.array));
    if (found.is_const && map.transfer != Transfer::kIn && map.transfer != Transfer::kRedistribute)
      return refuse(file_, map.place, fmt::format("'{}' is const and cannot be copied back to", map.array));
    Phi phi = phi_of(map);
    phi.element.size = found.type_size;
    phi.element.alignment = found.type_alignment;
    resolved_.phis.push_back(std::move(phi));
    resolved_.arrays.push_back(
        {resolved_.phis.back().label(), map.array, map.field, found.declaration, map.indices.size(), map.place.offset});
    return {};
  }

  QuasiAffine known(const QuasiAffine& size) const {
    std::map<std::string, QuasiAffine> values;
    for (const auto& [name, value] : resolved_.known) values[name] = value;
    return size.substituted(values);
  }

  Result<void> check_sizes(const MapClause& map, const ProbedArray& found) {
    std::vector<std::optional<QuasiAffine>> written;
    if (found.declared_at != kElsewhere) {
      written = pointed_extents(text_, found.declared_at);
      if (written.empty()) written = declared_extents(text_, found.declared_at);
    }
    for (std::size_t d = 0; d < map.extents.size(); d++) {
      const QuasiAffine said = known(map.extents[d]);
      if (said.is_constant() && said.constant() < 1)
        return refuse(file_, map.place,
                      fmt::format("size {} of '{}' is {}, expected at least 1", d + 1, map.array, said.constant()));
      std::optional<QuasiAffine> declared;
      if (found.dimensions[d] >= 0)
        declared = QuasiAffine(found.dimensions[d]);
      else if (d < written.size() && written[d])
        declared = known(*written[d]);
      if (!declared || *declared == said) continue;
      if (declared->is_constant() && !said.is_constant()) {
        resolved_.assumed.push_back(fmt::format("{} <= {}: '{}' is declared with that size", map.extents[d].isl_text(),
                                                declared->constant(), map.array));
        continue;
      }
      return refuse(file_, map.place,
                    fmt::format("size {} of '{}' is {} in its declaration, and {} here", d + 1, map.array,
                                declared->isl_text(), map.extents[d].isl_text()));
    }
    return {};
  }

  const std::string& file_;
  std::string_view text_;
  const Probe& probe_;
  Resolved& resolved_;
};

}  // namespace

Result<std::vector<Resolved>> resolve(const std::string& file, std::string_view text,
                                      const std::vector<const Directive*>& directives,
                                      const std::vector<std::string>& compiler) {
  std::vector<Probe> probes;
  for (const Directive* directive : directives) probes.push_back(probe_of(*directive));
  if (Result<void> probed = probe_source(file, text, compiler, probes); !probed)
    return tl::unexpected<Error>(probed.error());
  std::vector<Resolved> result(directives.size());
  for (std::size_t i = 0; i < directives.size(); i++) {
    result[i].directive = directives[i];
    if (Result<void> good = Checker(file, text, probes[i], result[i]).check(); !good)
      return tl::unexpected<Error>(good.error());
  }
  return result;
}

}  // namespace loopfold::layout
