#include "advise/layout/region.h"

#include <fmt/format.h>

#include <algorithm>

namespace loopfold::layout {

namespace {

tl::unexpected<Error> refuse(const std::string& file, const Place& place, std::string_view why) {
  return fail(ErrorKind::kBadInput, fmt::format("{}:{}:{}: #pragma layout: {}", file, place.line, place.column, why));
}

/// A statement that ends in an expression is not over before its semicolon.
bool needs_semicolon(const Syntax& statement) {
  switch (statement.kind) {
    case SyntaxKind::kBlock:
    case SyntaxKind::kNull:
    case SyntaxKind::kDeclarations:
      return false;
    case SyntaxKind::kFor:
    case SyntaxKind::kWhile:
    case SyntaxKind::kIf:
    case SyntaxKind::kSwitch:
    case SyntaxKind::kCase:
    case SyntaxKind::kLabel:
      return statement.children.empty() || needs_semicolon(statement.children.back());
    default:
      return true;
  }
}

std::size_t end_of(const Syntax& statement, std::string_view text) {
  if (!needs_semicolon(statement)) return statement.end;
  const std::size_t at = skip_blank(text, statement.end, text.size());
  return at < text.size() && text[at] == ';' ? at + 1 : statement.end;
}

/// The innermost block around an offset.
const Syntax* block_around(const Syntax& node, std::size_t offset) {
  for (const Syntax& child : node.children)
    if (child.begin <= offset && offset < child.end)
      if (const Syntax* const inner = block_around(child, offset)) return inner;
  return node.kind == SyntaxKind::kBlock ? &node : nullptr;
}

struct Found {
  const Syntax* statement = nullptr;
  const Syntax* parent = nullptr;
};

/// What begins first at or behind an offset, in what is around that offset.
Found next_statement(const Syntax& node, std::size_t offset) {
  for (const Syntax& child : node.children) {
    if (child.begin >= offset) return {&child, &node};
    if (child.end > offset)
      if (const Found inner = next_statement(child, offset); inner.statement != nullptr) return inner;
  }
  return {};
}

bool may_hold_statement(SyntaxKind kind) {
  switch (kind) {
    case SyntaxKind::kBlock:
    case SyntaxKind::kFor:
    case SyntaxKind::kWhile:
    case SyntaxKind::kDo:
    case SyntaxKind::kIf:
    case SyntaxKind::kLabel:
      return true;
    default:
      return false;
  }
}

/// Where the next statement's text begins: other pragmas may stand in front of it.
std::size_t next_text(const ScannedSource& scanned, std::string_view text, std::size_t at) {
  at = skip_blank(text, at, text.size());
  for (const OtherLine& line : scanned.others)
    if (line.begin == at && line.keyword == "pragma") return next_text(scanned, text, line.end);
  return at;
}

/// A pragma in front of the directive belongs to the statement behind that; the code that the directive becomes would
/// come between. And inside what several threads run at once, each would have elements of its own. What is in the way,
/// or "".
std::string pragma_in_the_way(const ScannedSource& scanned, const Directive& directive, const Syntax& function,
                              std::string_view text) {
  for (const OtherLine& line : scanned.others) {
    if (line.keyword != "pragma" || line.begin < function.begin || line.begin > directive.begin) continue;
    const bool threads = line.word == "omp" || line.word == "acc";
    const bool loops = threads || line.word == "GCC" || line.word == "clang" || line.word == "unroll" ||
                       line.word == "ivdep" || line.word == "simd" || line.word == "vector";
    if (loops && next_text(scanned, text, line.end) == directive.begin)
      return fmt::format("#pragma {} of line {} belongs to the same statement; put it behind this directive", line.word,
                         line.place.line);
    if (!threads) continue;
    const Found found = next_statement(function, line.end);
    if (found.statement != nullptr && found.statement->begin <= directive.begin &&
        directive.begin < found.statement->end)
      return fmt::format("several threads may run this: #pragma {} in line {}", line.word, line.place.line);
  }
  return "";
}

/// The end of the scop that a directive stands in, if it does.
std::optional<std::size_t> end_of_scop(const ScannedSource& scanned, const Directive& directive,
                                       const Syntax& function) {
  std::optional<std::size_t> open;
  for (const ScopMark& mark : scanned.scops) {
    if (mark.begin < function.begin || mark.begin > function.end) continue;
    if (mark.opens && mark.begin < directive.begin) open = mark.begin;
    if (!mark.opens && mark.begin < directive.begin) open.reset();
    if (!mark.opens && mark.begin > directive.begin) return open ? std::optional(mark.begin) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Result<Region> find_region(const Source& source, const ScannedSource& scanned, const Directive& directive,
                           std::string_view text) {
  Region region;
  for (const Syntax& function : source.functions)
    if (function.begin <= directive.begin && directive.end <= function.end) region.function = &function;
  if (region.function == nullptr)
    return refuse(source.file, directive.place, "expected inside a function, in front of a loop or a block");
  if (const std::string why = pragma_in_the_way(scanned, directive, *region.function, text); !why.empty())
    return refuse(source.file, directive.place, why);
  region.begin = directive.end;
  if (const std::optional<std::size_t> end = end_of_scop(scanned, directive, *region.function)) {
    region.is_scop = true;
    region.end = *end;
    region.block = block_around(*region.function, directive.begin);
    if (block_around(*region.function, *end) != region.block)
      return refuse(source.file, directive.place, "the scop ends in another block than the directive stands in");
    return region;
  }
  const Found found = next_statement(*region.function, directive.end);
  const bool follows = found.statement != nullptr && may_hold_statement(found.parent->kind) &&
                       next_text(scanned, text, directive.end) == found.statement->begin;
  if (!follows || !may_hold_statement(found.statement->kind))
    return refuse(source.file, directive.place, "expected in front of a loop or a block");
  region.end = end_of(*found.statement, text);
  region.is_block = found.statement->kind == SyntaxKind::kBlock;
  region.block = region.is_block ? found.statement : nullptr;
  return region;
}

bool at_top_level(const Region& region, std::size_t offset) {
  return region.block != nullptr && block_around(*region.function, offset) == region.block &&
         std::none_of(region.block->children.begin(), region.block->children.end(),
                      [&](const Syntax& child) { return child.begin <= offset && offset < child.end; });
}

}  // namespace loopfold::layout
