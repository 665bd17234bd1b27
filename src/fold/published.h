// The folding algorithm as published (TACO 2019, section 5), in its four variants.
#pragma once

#include <memory>

#include "fold/fold.h"

namespace loopfold::fold {

/// `options.variant` is not kAuto.
std::unique_ptr<Folder> make_published(const Options& options, Shape shape);

}  // namespace loopfold::fold
