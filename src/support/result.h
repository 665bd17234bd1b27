// The one error type that crosses module boundaries.
//
// A stage that can fail returns Result<T>: either its value or an Error whose text names the thing, the reason and what
// to do about it, ready to be printed behind `loopfold: error: `. Exceptions are for bugs only.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace loopfold {

/// Which exit status an error deserves; src/cli/exit_status.h maps it to a number.
enum class ErrorKind { kBadInput, kEnvironment, kUsage, kInternal };

struct Error {
  ErrorKind kind = ErrorKind::kBadInput;
  std::string message;  // "THING: what is wrong and what to do", one line
};

template <typename T>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorKind::kBadInput, "...")` from a function that returns any Result.
inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace loopfold
