#include "advise/layout/clang.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <mutex>

namespace loopfold::layout {

namespace {

constexpr std::array<const char*, 4> kLibraries = {LOOPFOLD_LIBCLANG, "libclang-14.so.1", "libclang.so.1",
                                                   "libclang.so"};

void* open_library() {
  for (const char* const name : kLibraries)
    if (void* const library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL)) return library;
  return nullptr;
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Result<ClangTable> fill_table() {
  void* const library = open_library();
  if (library == nullptr)
    return fail(ErrorKind::kEnvironment, "libclang: cannot be loaded; install Debian's package libclang-14-dev");
  ClangTable table;
#define LOOPFOLD_FIND(NAME)                       \
  if (!find(library, "clang_" #NAME, table.NAME)) \
    return fail(ErrorKind::kEnvironment, "libclang: has no clang_" #NAME "; install libclang 14 or newer");
  LOOPFOLD_CLANG_FUNCTIONS(LOOPFOLD_FIND)
#undef LOOPFOLD_FIND
  return table;
}

}  // namespace

Result<const ClangTable*> load_clang() {
  static const Result<ClangTable> table = fill_table();
  if (!table) return tl::unexpected<Error>(table.error());
  return &*table;
}

std::string take_text(const ClangTable& clang, CXString text) {
  const char* const characters = clang.getCString(text);
  std::string result = characters == nullptr ? "" : characters;
  clang.disposeString(text);
  return result;
}

ClangUnit::~ClangUnit() {
  if (unit_ != nullptr) clang_->disposeTranslationUnit(unit_);
  if (index_ != nullptr) clang_->disposeIndex(index_);
}

}  // namespace loopfold::layout
