// The ids of all findings of a report: the rules use them, and an option's `helps` refers to them.
#pragma once

#include <algorithm>
#include <string_view>

namespace backplane {

inline constexpr std::string_view kFindingIds[] = {
    "clock_throttled",   "collection_bound",  "core_efficiency_high",
    "cpu_overheated",    "cpu_saturated",     "cpu_throttled",
    "env_bound",         "gpu_idle",          "gpu_memory_errors",
    "gpu_memory_target", "gpu_saturated",     "gpu_use_target",
    "io_stalled",        "launch_bound",      "noisy_measurement",
    "out_of_memory",     "oversubscribed",    "precision_not_reached",
    "ram_near_limit",    "slow_updates",      "speedup_flat",
    "spread_collapsed",  "sync_overhead",     "threads_mismatch",
    "transfer_bound",    "unstable_learning", "update_bound",
    "vram_near_limit",
};

constexpr bool IsFindingId(std::string_view id) { return std::ranges::find(kFindingIds, id) != std::end(kFindingIds); }

}  // namespace backplane
