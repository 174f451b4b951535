// What the keeper above each trial costs (keep/keeper.hpp).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace backplane::bench {

// `backplane`: the program. `pairs`: how often each thing is measured. Times in ms, sizes in bytes.
nlohmann::json MeasureKeeper(const std::filesystem::path& backplane, uint64_t pairs);

}  // namespace backplane::bench
