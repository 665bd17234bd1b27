#include "fold/adaptive.h"
#include "fold/fold.h"
#include "fold/published.h"

namespace loopfold::fold {

std::unique_ptr<Folder> make_folder(const Options& options, Shape shape) {
  return options.variant == Variant::kAuto ? make_adaptive(options, shape) : make_published(options, shape);
}

}  // namespace loopfold::fold
