// Looks up and checks the arguments of bp_embed_open before any code of the env is loaded.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugin/catalog.hpp"
#include "plugin/plugin_info.hpp"

namespace backplane {

// The installation: BACKPLANE_HOME, or the folder above this library's. Throws TrialFailure if it is unknown.
std::filesystem::path Home();
// Adds the folders of the plugin path.
void AddPluginFolders(Catalog* catalog);
// Why the env cannot run in this process, as a sentence; empty: it can.
std::string WhyNotHere(const PluginInfo& env);

// The envs of the plugin path, in the format of bp_embed_envs.
std::string EnvListText();

inline constexpr char kOnError[] = "on_error", kEndEpisode[] = "end_episode";

// The option that names wrappers, as in an experiment file: {"env.wrappers": [{"frame_stack": 4}]}.
inline constexpr char kWrapperChain[] = "env.wrappers";

struct EnvToOpen {
  struct Wrapper {
    PluginInfo info;
    nlohmann::json options;
    std::string prefix;  // "env.wrappers.0.options"
  };
  PluginInfo info;
  nlohmann::json options;                     // all of them
  std::map<std::string, std::string> origin;  // only of given options
  std::vector<Wrapper> wrappers;              // the innermost first
  bool ends_episodes = false;                 // the option on_error: end_episode, which every env has here
};
// Arguments may be NULL, as in bp_embed_open. Throws TrialFailure (BP_E_CONFIG) with all errors of the options, in the words of
// an experiment file's reader.
EnvToOpen FindEnv(const char* so, const char* id, const char* options);

}  // namespace backplane
