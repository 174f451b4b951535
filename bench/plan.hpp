// Measures the time to plan a large sweep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace backplane::bench {

// Plans a sweep of three axes (25 x 20 x 20 points) over PPO on Ant, `times` times; hashes each plugin file once per repeat.
// Throws std::runtime_error if the folder lacks these plugins.
nlohmann::json RunPlan(const std::filesystem::path& plugin_folder, uint64_t times);

}  // namespace backplane::bench
