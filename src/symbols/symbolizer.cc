// Turns addresses of a run into function, file and line: finds the module, opens its file when the first address in it
// is asked for, and remembers all answers.
//
// From what: the trace's modules (path, build-id, load bias) and the files as they are now. `address - load_bias` is an
// address in the module's file; module_file.h says what the file knows about it. Modules with the same path and
// build-id share a file: a library with two executable segments is two modules.
//
// Cost: opening a module reads its symbol table and the heads of its units, the first line or scope its unit's tables;
// then a new address is a few binary searches, one that was asked for a hash lookup. Exactness: that of the tables.
#include "symbols/symbolizer.h"

#include <fmt/core.h>

#include <map>
#include <unordered_map>
#include <utility>

#include "symbols/module_file.h"
#include "symbols/readable_name.h"

namespace loopfold::symbols {

struct Symbolizer::State {
  std::vector<trace::Module> modules;
  std::vector<ModuleFile*> files;  // like modules; null until asked for
  std::map<std::pair<std::string, std::string>, std::unique_ptr<ModuleFile>> files_by_identity;
  std::unordered_map<std::uint64_t, Location> cache;
  std::vector<std::string> warnings;

  /// The module that covers the address; of several, the one that was mapped last.
  std::optional<std::size_t> module_of(std::uint64_t address) const {
    for (std::size_t i = modules.size(); i-- > 0;) {
      if (address >= modules[i].start && address - modules[i].start < modules[i].size) return i;
    }
    return std::nullopt;
  }

  ModuleFile& file_of(std::size_t index) {
    if (files[index] != nullptr) return *files[index];
    const trace::Module& module = modules[index];
    std::unique_ptr<ModuleFile>& file = files_by_identity[{module.path, module.build_id}];
    if (file == nullptr) {
      file = std::make_unique<ModuleFile>(module, files_by_identity.size());
      const bool is_file = !module.path.empty() && module.path.front() != '[';
      if (!file->problem().empty() && is_file) {
        warnings.push_back(fmt::format("{}: {}; its functions and lines are not known", module.path, file->problem()));
      }
    }
    files[index] = file.get();
    return *file;
  }

  Location locate(std::uint64_t address) {
    Location location;
    const std::optional<std::size_t> index = module_of(address);
    if (!index) return location;
    location.module = base_name(modules[*index].path);
    location.module_offset = address - modules[*index].load_bias;
    file_of(*index).locate(location.module_offset, location);
    return location;
  }

  /// The table for an address and what to take off the address to look it up there.
  std::pair<const FunctionTable*, std::uint64_t> functions_at(std::uint64_t address) {
    const std::optional<std::size_t> index = module_of(address);
    if (!index) return {nullptr, 0};
    return {file_of(*index).functions(), modules[*index].load_bias};
  }
};

Symbolizer::Symbolizer(const std::vector<trace::Module>& modules) : state_(std::make_unique<State>()) {
  state_->modules = modules;
  state_->files.resize(modules.size());
}

Symbolizer::~Symbolizer() = default;
Symbolizer::Symbolizer(Symbolizer&&) noexcept = default;

const Location& Symbolizer::locate(std::uint64_t address) {
  const auto found = state_->cache.find(address);
  if (found != state_->cache.end()) return found->second;
  return state_->cache.emplace(address, state_->locate(address)).first->second;
}

std::string Symbolizer::describe(std::uint64_t address) {
  const Location& location = locate(address);
  if (location.function.empty()) {
    if (location.module.empty()) return fmt::format("{:#x}", address);
    const std::string place = fmt::format("{}+{:#x}", location.module, location.module_offset);
    return location.line > 0 ? fmt::format("{} ({}:{})", place, base_name(location.file), location.line) : place;
  }
  std::string text = location.function;
  if (location.offset != 0) text += fmt::format("+{:#x}", location.offset);
  if (location.line > 0) return fmt::format("{} ({}:{})", text, base_name(location.file), location.line);
  return fmt::format("{} ({})", text, location.module);
}

bool Symbolizer::is_function_start(std::uint64_t address) {
  const auto [functions, bias] = state_->functions_at(address);
  return functions != nullptr && functions->is_start(address - bias);
}

std::optional<FunctionRange> Symbolizer::function_range(std::uint64_t address) {
  const auto [functions, bias] = state_->functions_at(address);
  if (functions == nullptr) return std::nullopt;
  const std::optional<FunctionTable::Function> found = functions->find(address - bias);
  return found ? std::optional(FunctionRange{found->start + bias, found->end + bias}) : std::nullopt;
}

std::uint64_t Symbolizer::function_of(std::uint64_t address) {
  const auto [functions, bias] = state_->functions_at(address);
  if (functions == nullptr) return 0;
  const std::optional<FunctionTable::Function> found = functions->find(address - bias);
  return found ? found->owner + bias : 0;
}

bool Symbolizer::in_plt(std::uint64_t address) {
  const auto [functions, bias] = state_->functions_at(address);
  return functions != nullptr && functions->in_plt(address - bias);
}

const std::vector<std::string>& Symbolizer::warnings() const { return state_->warnings; }

}  // namespace loopfold::symbols
