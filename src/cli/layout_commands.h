// The commands below `loopfold layout`.
#pragma once

#include <memory>

#include "cli/command.h"

namespace loopfold::cli {

std::unique_ptr<Command> make_layout_search();

}  // namespace loopfold::cli
