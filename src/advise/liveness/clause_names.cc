#include "advise/liveness/clause_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace loopfold::advise::liveness {

namespace {

constexpr std::string_view kInside = "::";
constexpr std::string_view kAnonymous = "(anonymous namespace)::";

/// The first instruction of a loop; 0 if it is not known.
std::uint64_t start_of(const poly::Context& context, structure::ContextId loop) {
  if (context.structure == nullptr || loop >= context.tree.contexts().size()) return 0;
  const structure::Context& here = context.tree[loop];
  if (here.function >= context.structure->forests.size()) return 0;
  const auto& loops = context.structure->forests[here.function].loops();
  if (here.loop >= loops.size()) return 0;
  const structure::Function& function = context.structure->flow.functions()[here.function];
  return context.structure->code.address(function.places[loops[here.loop].header]);
}

}  // namespace

ClauseNames::ClauseNames(std::vector<std::string> functions, std::string_view file)
    : functions_(std::move(functions)), language_(language_of(file)) {}

ClauseNames::ClauseNames(const poly::Context& context, structure::ContextId loop) {
  const std::uint64_t start = start_of(context, loop);
  if (start == 0) return;
  const symbols::Location& at = context.locate(start);
  language_ = language_of(at.file);
  functions_.push_back(at.function);
  for (const symbols::Frame& frame : at.frames) functions_.emplace_back(frame.function);
}

ClauseNames::Language ClauseNames::language_of(std::string_view file) {
  const std::size_t dot = file.rfind('.');
  if (dot == std::string_view::npos) return Language::kOther;
  const std::string_view written = file.substr(dot + 1);
  if (written == "c") return Language::kC;
  std::string extension(written);
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::array kFortran = {"f", "for", "ftn", "f77", "f90", "f95", "f03", "f08", "f18"};
  return std::find(kFortran.begin(), kFortran.end(), extension) != kFortran.end() ? Language::kFortran
                                                                                  : Language::kOther;
}

std::string ClauseNames::of(std::string_view variable) const {
  const std::size_t at = variable.rfind(kInside);
  if (at == std::string_view::npos) return std::string(variable);
  const std::string_view in = variable.substr(0, at);
  const std::string_view name = variable.substr(at + kInside.size());
  if (language_ == Language::kFortran || std::find(functions_.begin(), functions_.end(), in) != functions_.end())
    return std::string(name);
  if (language_ == Language::kC) return {};
  std::string whole(variable);
  for (std::size_t found = 0; (found = whole.find(kAnonymous)) != std::string::npos;)
    whole.erase(found, kAnonymous.size());
  return whole.find('(') == std::string::npos ? whole : std::string();
}

}  // namespace loopfold::advise::liveness
