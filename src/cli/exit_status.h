// Exit statuses of the loopfold command, all in one place.
#pragma once

#include "support/result.h"

namespace loopfold::cli {

enum ExitStatus : int {
  kSuccess = 0,
  kAnswerIsNo = 1,  // check, verify, trace check: the answer is no or unknown
  kUsage = 2,
  kBadInputFile = 3,
  kEnvironment = 4,  // valgrind missing, disk, permission
  kInternal = 5,

  // record and run: the program's own status (128+n for signal n), or
  kRecorderFailed = 125,
  kCannotRun = 126,
  kNotFound = 127,
};

inline ExitStatus status_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kBadInput:
      return kBadInputFile;
    case ErrorKind::kEnvironment:
      return kEnvironment;
    case ErrorKind::kUsage:
      return kUsage;
    case ErrorKind::kInternal:
      return kInternal;
  }
  return kInternal;
}

}  // namespace loopfold::cli
