// The header of checkpoints as they were before they had checksums, so that trials of older folders go on.
#pragma once

#include <nlohmann/json.hpp>

#include "record/checkpoint_header.hpp"

namespace backplane {

// {"meta": {...}, "blobs": [{"name", "bytes"}]}. Throws RecordError.
CheckpointHeader HeaderOfV1(const nlohmann::json& json);

}  // namespace backplane
