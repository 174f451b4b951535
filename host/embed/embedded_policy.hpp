// A trained policy with its own plugins, for bp_embed_policy_*.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "contract/trial_spec.hpp"
#include "embed/handles.hpp"
#include "plugin/plugin_info.hpp"
#include "rollout/instance.hpp"
#include "rollout/slot_buffers.hpp"

namespace backplane {

class EmbeddedPolicy : public Embedded {
 public:
  // Loads the trial of this name in the results folder `out`; empty: its only trial. Throws TrialFailure, PluginError, and
  // std::runtime_error if there is no such trial or checkpoint.
  EmbeddedPolicy(const std::filesystem::path& out, const std::string& trial, const std::string& checkpoint, uint64_t rows);

  ChannelBuffer& Channel(const std::string& name);
  void Act();                       // the GREEDY actions of all rows
  void Reset(const uint8_t* mask);  // starts episodes in the rows of the mask; NULL: every row

 private:
  std::unique_ptr<EnvInstance> MakeChain(uint64_t rows);

  const TrialSpec spec_;
  const PluginInfo env_info_, learner_info_;
  const HostSinks sinks_;
  const std::unique_ptr<LoadedModule> env_module_, learner_module_;
  std::vector<std::unique_ptr<LoadedModule>> wrapper_modules_;
  const std::unique_ptr<EnvInstance> chain_;  // never stepped; it describes the channels
  EnvInstance& env_;
  LearnerInstance learner_;
  SlotBuffers buffers_;
  uint64_t step_ = 0;
};

}  // namespace backplane
