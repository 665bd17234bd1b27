// 128-bit integers, for arithmetic on 64-bit numbers that must not overflow.
#pragma once

namespace loopfold {

__extension__ using Wide = __int128;

}  // namespace loopfold
