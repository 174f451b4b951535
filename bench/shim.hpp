// Measures the time and memory that the shim above each trial adds (shim/shim.hpp).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace backplane::bench {

// `backplane`: the program. `pairs`: repeats of each measurement. Times in ms, sizes in bytes.
nlohmann::json MeasureShim(const std::filesystem::path& backplane, uint64_t pairs);

}  // namespace backplane::bench
