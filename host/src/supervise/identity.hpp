// What makes two trials the same trial: everything that can change a number, and nothing else.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/loader.hpp"

namespace backplane {

// Canonical (sorted keys): the resolved settings, the seed, and the content of the plugin and data files. Left out are the
// experiment's name, output paths, monitors, resources, rollout.threads, rollout.pin_threads and how often a checkpoint is
// saved. Throws std::runtime_error if a plugin or data file can not be read.
nlohmann::json IdentityJson(const LoadedExperiment& loaded);

// The first 12 hex digits of the SHA-256 over the canonical text.
std::string TrialId(const nlohmann::json& identity);

}  // namespace backplane
