// Where a view goes that may be large: it is handed out piece by piece, in order.
#pragma once

#include <functional>
#include <string_view>

namespace loopfold::views {

/// Takes the next piece. False: no more is wanted, since it cannot be written.
using Writer = std::function<bool(std::string_view)>;

}  // namespace loopfold::views
