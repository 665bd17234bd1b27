#include "views/ast_text.h"

#include <fmt/format.h>

#include "views/full_ast.h"
#include "views/report_words.h"

namespace loopfold::views {

namespace {

using profile::Region;
using profile::Transformed;

/// Lines of any text, each made inert.
std::string inert_lines(std::string_view text, Charset charset) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += inert(text.substr(0, end), charset) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string remark(const std::string& text) { return fmt::format("// {}\n", text); }

std::string simplified(const Region& region, const Words& words, const AstOptions& options) {
  if (!region.transformed) return remark("No order was looked for.");
  const Transformed& transformed = *region.transformed;
  if (transformed.status == Transformed::Status::kGaveUp && transformed.ast_before.empty())
    return remark("Gave up" + (transformed.why.empty() ? "." : ": " + words.text(transformed.why)));
  const bool original = transformed.status != Transformed::Status::kFound;
  const std::string note =
      options.transformed && original ? remark("No better order was found: this is as written.") : "";
  const std::string& text = options.transformed && !original ? transformed.ast : transformed.ast_before;
  return note + (text.empty() ? remark("There is nothing to show.") : inert_lines(text, options.charset));
}

std::string complete(const profile::Profile& profile, const Region& region, const Words& words,
                     const AstOptions& options) {
  const Result<std::string> text = full_ast(profile, region, words, options.transformed);
  return text ? inert_lines(*text, options.charset) : remark(text.error().message);
}

}  // namespace

std::string ast_text(const profile::Profile& profile, const AstOptions& options) {
  const ReportWords report(profile, options.charset);
  std::string text;
  for (const Region& region : profile.regions) {
    if (options.region && *options.region != region.id) continue;
    if (!text.empty()) text += '\n';
    const std::string where = region.loops.empty() ? "?" : report.where(region.loops.front());
    text += remark(fmt::format("Region {}: {}, {} % of the operations{}", region.id, where,
                               percent_text(region.ops_percent), options.transformed ? ", in the new order" : ""));
    text +=
        options.full ? complete(profile, region, report.words(), options) : simplified(region, report.words(), options);
  }
  return text.empty() ? remark("There are no regions: no loop has enough operations.") : text;
}

}  // namespace loopfold::views
