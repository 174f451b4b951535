// Plays episodes in a plugin, loaded and driven by the host's own code.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backplane/ext/snapshot.h"
#include "backplane/rng.h"
#include "cases.hpp"
#include "episode.hpp"
#include "plugin/loader.hpp"
#include "rollout/buffers.hpp"
#include "rollout/instance.hpp"

namespace backplane::parity {

// The loaded plugin of a task ("ant"), NULL if it was not built.
const LoadedModule* FindModule(const std::string& plugin);
// Every option with its default.
nlohmann::json Defaults(const LoadedModule& module);

class Player {
 public:
  // `options` replace the table's defaults.
  Player(const LoadedModule& module, const nlohmann::json& options, Drive drive);

  // An episode of at most `steps` steps from the state of `seed`, which also seeds the actions. The state consists of
  // `state_size` numbers after the first `skip` ones of the author's struct in the snapshot.
  Episode Play(uint64_t seed, size_t steps, size_t skip, size_t state_size);

  int64_t max_episode_steps() const { return env_->spec().max_episode_steps; }
  const std::vector<std::string>& info_channels() const { return info_channels_; }  // without "ep/..."
  std::vector<std::string> InfoNames() const;                                       // one for each number

 private:
  std::vector<double> State(size_t skip, size_t state_size) const;
  std::vector<float> DrawAction(bp_rng* rng, const std::vector<float>& obs);
  std::vector<float> Read(const std::string& channel) const;

  HostSinks sinks_;
  std::unique_ptr<EnvInstance> env_;
  Drive drive_;
  std::map<std::string, std::unique_ptr<ChannelBuffer>> buffers_;
  std::vector<bp_tensor*> tensors_;
  std::vector<bp_frame> frames_;
  std::vector<std::string> info_channels_;
};

}  // namespace backplane::parity
