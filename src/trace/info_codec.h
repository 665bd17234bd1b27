// RunInfo and EndInfo as JSON: read by people and by tools that know nothing else of the format.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "support/result.h"
#include "trace/types.h"

namespace loopfold::trace {

std::string encode_run_info(const RunInfo& info);
Result<RunInfo> decode_run_info(std::span<const std::uint8_t> payload);

std::string encode_end_info(const EndInfo& end);
Result<EndInfo> decode_end_info(std::span<const std::uint8_t> payload);

}  // namespace loopfold::trace
