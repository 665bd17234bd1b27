// Turns addresses of a run into function, file and line: finds the module, opens its file when the first address in it
// is asked for, and remembers all answers.
//
// From what: the trace's modules (path, build-id, load bias) and the files as they are now. `address - load_bias` is an
// address in the module's file; module_file.h says what the file knows about it. Modules with the same path and
// build-id share a file: a library with two executable segments is two modules.
//
// Data lies in segments that the trace's modules do not list, so the first question about data opens all files for
// their program headers; a module's tables of variables are read when an address falls into it.
//
// Cost: opening a module reads its symbol table and the heads of its units, the first line or scope its unit's tables;
// then a new address is a few binary searches, one that was asked for a hash lookup. Exactness: that of the tables.
#include "symbols/symbolizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "symbols/module_file.h"
#include "symbols/readable_name.h"

namespace loopfold::symbols {

struct Symbolizer::State {
  std::mutex mutex;  // held while a question is answered
  std::vector<trace::Module> modules;
  std::vector<ModuleFile*> files;  // like modules; null until asked for
  std::map<std::pair<std::string, std::string>, std::unique_ptr<ModuleFile>> files_by_identity;
  std::unordered_map<std::uint64_t, Location> cache;
  std::vector<std::string> warnings;

  /// A file as it lies in memory. Modules with one file and load bias are one.
  struct Image {
    ModuleFile* file = nullptr;
    std::uint64_t bias = 0;
    std::string module;
    std::unordered_map<std::uint32_t, DataSymbol> symbols;  // by number of the variable; those that were asked for
    std::unordered_map<std::uint32_t, DataSection> sections;
  };
  /// Addresses of one segment of an image.
  struct Segment {
    std::uint64_t start = 0;
    std::uint64_t last = 0;
    Image* image = nullptr;
  };
  bool has_images = false;
  std::deque<Image> images;
  std::vector<Segment> segments;  // disjoint, sorted

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

  /// Opens all files. Where segments overlap, the module that was mapped last has the addresses.
  void make_images() {
    has_images = true;
    std::vector<Segment> all;
    std::vector<std::uint64_t> borders;
    for (std::size_t i = 0; i < modules.size(); ++i) {
      ModuleFile* file = &file_of(i);
      const std::uint64_t bias = modules[i].load_bias;
      const bool is_known = std::any_of(images.begin(), images.end(),
                                        [&](const Image& image) { return image.file == file && image.bias == bias; });
      if (is_known) continue;
      images.push_back({file, bias, base_name(modules[i].path), {}, {}});
      for (const FileRange& range : file->segments()) {
        const std::uint64_t start = range.address + bias;
        if (start > ~range.size) continue;
        all.push_back({start, start + (range.size - 1), &images.back()});
        borders.push_back(all.back().start);
        borders.push_back(all.back().last + 1);
      }
    }
    std::sort(borders.begin(), borders.end());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
      const auto covering = std::find_if(all.rbegin(), all.rend(), [&](const Segment& segment) {
        return segment.start <= borders[i] && borders[i] <= segment.last;
      });
      if (covering != all.rend()) segments.push_back({borders[i], borders[i + 1] - 1, covering->image});
    }
  }

  const DataSymbol* symbol_of(Image& image, const DataTable& table, const DataTable::Piece& piece) {
    if (piece.variable == DataTable::kNone) return nullptr;
    const auto [place, is_new] = image.symbols.try_emplace(piece.variable);
    if (is_new) {
      const DataTable::Variable& variable = table.variable(piece.variable);
      place->second.start = variable.address + image.bias;
      place->second.size = variable.size;
      place->second.module = image.module;
      place->second.section = table.section(piece.section).name;
      image.file->describe(variable, place->second);
    }
    return &place->second;
  }

  const DataSection* section_of(Image& image, const DataTable& table, std::uint32_t section) {
    const auto [place, is_new] = image.sections.try_emplace(section);
    if (is_new) {
      const FileRange& range = table.section(section);
      place->second = {range.name, image.module, range.address + image.bias, range.size};
    }
    return &place->second;
  }

  DataPlace data_place(std::uint64_t address) {
    if (!has_images) make_images();
    DataPlace place;
    const auto after = std::upper_bound(segments.begin(), segments.end(), address,
                                        [](std::uint64_t value, const Segment& s) { return value < s.start; });
    const auto before = after != segments.begin() ? std::prev(after) : segments.end();
    if (before == segments.end() || before->last < address) {
      place.start = before == segments.end() ? 0 : before->last + 1;
      place.last = after == segments.end() ? ~std::uint64_t{0} : after->start - 1;
      return place;
    }
    Image& image = *before->image;
    const DataTable* table = image.file->data();
    const DataTable::Piece* piece = table != nullptr ? table->find(address - image.bias) : nullptr;
    if (piece == nullptr) return {nullptr, nullptr, address, address};
    place.symbol = symbol_of(image, *table, *piece);
    place.section = section_of(image, *table, piece->section);
    place.start = std::max(before->start, piece->start + image.bias);
    place.last = std::min(before->last, piece->last + image.bias);
    return place;
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
  const std::lock_guard lock(state_->mutex);
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
  const std::lock_guard lock(state_->mutex);
  const auto [functions, bias] = state_->functions_at(address);
  return functions != nullptr && functions->is_start(address - bias);
}

std::optional<FunctionRange> Symbolizer::function_range(std::uint64_t address) {
  const std::lock_guard lock(state_->mutex);
  const auto [functions, bias] = state_->functions_at(address);
  if (functions == nullptr) return std::nullopt;
  const std::optional<FunctionTable::Function> found = functions->find(address - bias);
  return found ? std::optional(FunctionRange{found->start + bias, found->end + bias}) : std::nullopt;
}

std::uint64_t Symbolizer::function_of(std::uint64_t address) {
  const std::lock_guard lock(state_->mutex);
  const auto [functions, bias] = state_->functions_at(address);
  if (functions == nullptr) return 0;
  const std::optional<FunctionTable::Function> found = functions->find(address - bias);
  return found ? found->owner + bias : 0;
}

bool Symbolizer::in_plt(std::uint64_t address) {
  const std::lock_guard lock(state_->mutex);
  const auto [functions, bias] = state_->functions_at(address);
  return functions != nullptr && functions->in_plt(address - bias);
}

DataPlace Symbolizer::data_place(std::uint64_t address) {
  const std::lock_guard lock(state_->mutex);
  return state_->data_place(address);
}

std::vector<LocalVariable> Symbolizer::locals(std::uint64_t address) {
  const std::lock_guard lock(state_->mutex);
  const std::optional<std::size_t> index = state_->module_of(address);
  if (!index) return {};
  const std::uint64_t bias = state_->modules[*index].load_bias;
  std::vector<LocalVariable> found = state_->file_of(*index).locals(address - bias);
  for (LocalVariable& variable : found) variable.move_code(bias);
  return found;
}

const std::vector<std::string>& Symbolizer::warnings() const { return state_->warnings; }

}  // namespace loopfold::symbols
