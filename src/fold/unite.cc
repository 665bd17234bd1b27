#include <algorithm>

#include "fold/fold.h"

namespace loopfold::fold {

Folded unite(std::vector<Folded> parts, Shape) {
  Folded all;
  for (Folded& part : parts) {
    all.points += part.points;
    all.max_intermediate += part.max_intermediate;
    all.widened = all.widened || part.widened;
    all.gave_up = all.gave_up || part.gave_up;
    if (all.why.empty()) all.why = part.why;
    for (Piece& piece : part.pieces) all.pieces.push_back(std::move(piece));
  }
  return all;
}

}  // namespace loopfold::fold
