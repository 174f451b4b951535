// What bp_embed_open is asked for, looked up and checked before anything of the env is loaded.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "plugin/catalog.hpp"
#include "plugin/plugin_info.hpp"

namespace backplane {

// The installation: of BACKPLANE_HOME, else the folder above that of this library. Throws TrialFailure if it can not be known.
std::filesystem::path Home();
// Of the plugin path.
void AddPluginFolders(Catalog* catalog);
// Why the env can not be opened in a process that has what it has, as a sentence; empty: it can.
std::string WhyNotHere(const PluginInfo& env);

// All of the plugin path, as bp_embed_envs lists them.
std::string EnvListText();

struct EnvToOpen {
  PluginInfo info;
  nlohmann::json options;                     // all of them
  std::map<std::string, std::string> origin;  // of those that were given
};
// NULL as bp_embed_open has it. Throws TrialFailure (BP_E_CONFIG) with all that is wrong with the options, as an experiment
// file's reader says it.
EnvToOpen FindEnv(const char* so, const char* id, const char* options);

}  // namespace backplane
