// Folding that stays exact as long as that is small, and then gives up as little as it can: Variant::kAuto.
#pragma once

#include <memory>

#include "fold/fold.h"

namespace loopfold::fold {

std::unique_ptr<Folder> make_adaptive(const Options& options, Shape shape);

}  // namespace loopfold::fold
