// Descriptions as isl's relations, and the flow between them, read by read.
//
// The reads are given to isl one at a time. Two reads of one array in one instance have last writers of their own, and
// what isl does with a relation that takes one instance to several elements need not be relied upon.
#include "truth.h"

#include <fmt/format.h>

#include <algorithm>

namespace loopfold::oracle {

namespace {

std::string both(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a + b;
  return fmt::format("{} and {}", a, b);
}

std::string where(const std::string& condition) { return condition.empty() ? "" : " : " + condition; }

isl::union_map relation(isl::ctx context, const StaticStatement& statement, const std::string& to,
                        const std::string& condition) {
  return isl::union_map(
      context, fmt::format("{{ {} -> {}{} }}", statement.tuple(), to, where(both(statement.domain, condition))));
}

bool is_variable(const ElementText& element) { return element.element.find("[]") != std::string::npos; }

std::size_t longest_order(const Description& description) {
  std::size_t longest = 0;
  for (const StaticStatement& statement : description.statements) longest = std::max(longest, statement.order.size());
  return longest;
}

isl::union_map schedule(isl::ctx context, const Description& description) {
  const std::size_t length = longest_order(description);
  isl::union_map all(context, "{ }");
  for (const StaticStatement& statement : description.statements) {
    std::vector<std::string> order = statement.order;
    order.resize(length, "0");
    all = all.unite(relation(context, statement, fmt::format("[{}]", fmt::join(order, ", ")), ""));
  }
  return all;
}

isl::union_map writes(isl::ctx context, const Description& description) {
  isl::union_map all(context, "{ }");
  for (const StaticStatement& statement : description.statements)
    for (const ElementText& write : statement.writes)
      all = all.unite(relation(context, statement, write.element, write.condition));
  return all;
}

}  // namespace

isl::union_set static_domains(isl::ctx context, const Description& description) {
  isl::union_set all(context, "{ }");
  for (const StaticStatement& statement : description.statements)
    all = all.unite(isl::union_set(context, fmt::format("{{ {}{} }}", statement.tuple(), where(statement.domain))));
  return all;
}

isl::union_map static_flow(isl::ctx context, const Description& description, Through through) {
  const isl::union_map order = schedule(context, description);
  const isl::union_map sources = writes(context, description);
  isl::union_map all(context, "{ }");
  for (const StaticStatement& statement : description.statements) {
    for (const ElementText& read : statement.reads) {
      if (through == Through::kArrays && is_variable(read)) continue;
      const isl::union_access_info info =
          isl::union_access_info(relation(context, statement, read.element, read.condition))
              .set_must_source(sources)
              .set_schedule_map(order);
      all = all.unite(info.compute_flow().must_dependence());
    }
  }
  return all;
}

}  // namespace loopfold::oracle
