#include "advise/layout/library.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace loopfold::layout {

namespace {

constexpr std::array<std::string_view, 59> kHarmless = {
    "abs",   "labs",   "llabs",  "fabs",  "sqrt",  "cbrt",     "exp",     "exp2",   "log",          "log2",
    "log10", "pow",    "sin",    "cos",   "tan",   "asin",     "acos",    "atan",   "atan2",        "sinh",
    "cosh",  "tanh",   "floor",  "ceil",  "round", "lround",   "trunc",   "rint",   "nearbyint",    "fmod",
    "fmin",  "fmax",   "fma",    "hypot", "ldexp", "copysign", "erf",     "erfc",   "tgamma",       "lgamma",
    "expm1", "log1p",  "fdim",   "isnan", "isinf", "printf",   "fprintf", "puts",   "putchar",      "fputs",
    "fputc", "malloc", "calloc", "free",  "clock", "time",     "rand",    "fflush", "__assert_fail"};

/// Compiler's own, without __builtin_ in front, that are not functions of the library.
constexpr std::array<std::string_view, 12> kBuiltins = {"expect",   "constant_p", "clz",       "ctz",
                                                        "popcount", "prefetch",   "huge_val",  "inf",
                                                        "nan",      "isfinite",   "isgreater", "isless"};

constexpr std::array<std::string_view, 5> kAllocating = {"malloc", "calloc", "realloc", "aligned_alloc", "memalign"};

constexpr std::array<std::string_view, 33> kKeepNothing = {
    "memset", "memcpy", "memmove", "memcmp", "strlen",       "strcmp",       "strncmp", "strcpy",  "strncpy",
    "strcat", "atoi",   "atol",    "atof",   "strtol",       "strtoul",      "strtod",  "qsort",   "fread",
    "fwrite", "fopen",  "fclose",  "fgets",  "scanf",        "fscanf",       "sscanf",  "sprintf", "snprintf",
    "perror", "exit",   "abort",   "getenv", "gettimeofday", "clock_gettime"};

template <std::size_t count>
bool is_in(const std::array<std::string_view, count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool is_harmless(const std::string& function) {
  constexpr std::string_view kPrefix = "__builtin_";
  const bool builtin = function.rfind(kPrefix, 0) == 0;
  std::string_view name = function;
  if (builtin) name.remove_prefix(kPrefix.size());
  const auto known = [&](std::string_view wanted) {
    return is_in(kHarmless, wanted) || (builtin && is_in(kBuiltins, wanted));
  };
  if (known(name)) return true;
  const bool suffix = !name.empty() && (name.back() == 'f' || name.back() == 'l');
  if (suffix) name.remove_suffix(1);
  return suffix && known(name);
}

bool allocates(const std::string& function) { return is_in(kAllocating, function); }

bool keeps_nothing(const std::string& function) { return is_in(kKeepNothing, function); }

}  // namespace loopfold::layout
