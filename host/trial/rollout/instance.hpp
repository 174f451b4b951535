// Owns plugin instances: creates them with their options, checks them against each other, and destroys them.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backplane/channels.hpp"
#include "backplane/env.h"
#include "backplane/ext/autoreset.h"
#include "backplane/ext/batch.h"
#include "backplane/learner.h"
#include "base/error_words.hpp"
#include "plugin/host_services.hpp"
#include "plugin/loader.hpp"
#include "rollout/check_spec.hpp"
#include "rollout/env_below.hpp"
#include "rollout/failure.hpp"
#include "rollout/learner_files.hpp"
#include "rollout/learner_memory.hpp"
#include "rollout/memory_reserve.hpp"
#include "rollout/process_state.hpp"

namespace backplane {

// The plugin whose code this thread runs now, for the crash handler. Points to text that lives as long as the process.
// `constinit` avoids a check for initialisation at every access.
extern constinit thread_local const char* tls_running_plugin;

// Options of one instance and the places where they were set.
struct InstanceOptions {
  nlohmann::json options;
  std::map<std::string, std::string> origin;
  std::string prefix;  // "env.options"
};

// Calls into a plugin. An exception across the C boundary violates the contract, but only fails this trial.
template <class Function>
auto CallPlugin(const std::string& id, Function&& function) {
  tls_running_plugin = id.c_str();
  const StateWatch bounds;
  try {
    return function();
  } catch (const std::bad_alloc&) {
    FailOutOfMemory(id);  // no violation of the contract
  } catch (const std::exception& e) {
    throw TrialFailure(BP_E_INTERNAL, id, "threw an exception: " + WordsOf(e));
  } catch (...) {
    throw TrialFailure(BP_E_INTERNAL, id, "threw an exception that is not a std::exception");
  }
}

// The same for destructors, which must not throw: writes a failure to stderr and clears the running plugin.
template <class Function>
void CallPluginQuietly(const std::string& id, Function&& function) noexcept {
  try {
    CallPlugin(id, std::forward<Function>(function));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  tls_running_plugin = "";  // `id` may be destroyed soon
}

// Passes the result of a plugin's `create` to its `destroy`, even if a constructor below throws.
template <class T>
struct Destroyer {
  const std::string* id;
  void (*destroy)(T*);
  void operator()(T* made) const noexcept {
    CallPluginQuietly(*id, [&] { destroy(made); });
  }
};
template <class T>
using PluginHandle = std::unique_ptr<T, Destroyer<T>>;

// Throws the TrialFailure of a call that returned this status.
[[noreturn]] void FailIn(HostServices& services, bp_status status, const std::string& doing);

// Returns `table` if it has `bytes` bytes and a function in each slot from its 8th byte on, like all tables of backplane/ext/.
// NULL for NULL: the plugin does not support it. Throws TrialFailure with the plugin `id` and the extension.
const void* CheckExtensionTable(const std::string& id, const char* extension, const void* table, uint32_t bytes);

// The common part of env and learner instances. `Made` is bp_env or bp_learner.
template <class Made, class Api>
class PluginInstance {
 public:
  PluginInstance(const PluginInstance&) = delete;

  const std::string& id() const { return services_.plugin_id(); }
  uint64_t flags() const { return flags_; }
  Made* handle() { return made_.get(); }
  // The complete table of an extension; NULL: not supported.
  template <class Ext>
  const Ext* Extension(const char* ext) const {
    if (api_->get_extension == nullptr) return nullptr;
    const void* table = CallPlugin(id(), [&] { return api_->get_extension(made_.get(), ext); });
    return static_cast<const Ext*>(CheckExtensionTable(id(), ext, table, sizeof(Ext)));
  }
  // Calls function(Made*) through such a table. An error status, if it returns one, ends the trial with `doing` in the message.
  template <class Function>
  auto Call(const char* doing, Function&& function) {
    if constexpr (std::is_same_v<decltype(function(made_.get())), bp_status>) {
      const bp_status status = CallPlugin(id(), [&] { return function(made_.get()); });
      if (status != BP_OK) Fail(status, doing);
    } else {
      return CallPlugin(id(), [&] { return function(made_.get()); });
    }
  }
  [[noreturn]] void Fail(bp_status status, const std::string& doing) { FailIn(services_, status, doing); }
  // Destroys it like the destructor, but throws TrialFailure on failure. Call nothing afterwards.
  void Destroy() {
    CallPlugin(id(), [&] { api_->destroy(made_.release()); });
  }

 protected:
  PluginInstance(const LoadedModule& module, const std::string& id, const HostSinks& sinks)
      : services_(id, &sinks),
        api_(module.api<Api>(id)),
        flags_(module.descriptor(id).flags),
        made_(nullptr, {&services_.plugin_id(), api_->destroy}) {}

  HostServices services_;
  const Api* api_;
  uint64_t flags_;
  PluginHandle<Made> made_;
};

class EnvInstance : public PluginInstance<bp_env, bp_env_api> {
 public:
  // `below`: the env below a wrapper; NULL: none. Throws TrialFailure (BP_E_CONFIG) if a wrapper has none, or another env has
  // one.
  EnvInstance(const LoadedModule& module, const std::string& id, const HostSinks& sinks, const InstanceOptions& options,
              uint64_t rows, std::unique_ptr<EnvInstance> below = nullptr);
  ~EnvInstance() { made_.reset(); }  // before the env below

  const bp_env_spec& spec() const { return spec_.view; }  // checked copy of the host; works with bp::FindChannel
  const CheckedEnvSpec& checked_spec() const { return spec_; }
  const std::vector<const bp_channel*>& channels() const { return channels_; }
  uint64_t rows() const { return rows_; }
  uint64_t agents() const { return spec_.view.max_agents; }
  uint64_t Lead(const bp_channel& channel) const { return rows_ * bp::AgentsIn(spec_.view, channel); }
  // Steps all rows together, and starts a row's next episode in the step that ends one.
  bool resets_itself() const { return resets_itself_; }
  bool takes_seeds() const { return takes_seeds_; }  // of coming episodes
  // Every reset and step is a call for all rows.
  bool steps_whole() const { return steps_whole_; }
  bool on_device() const { return spec_.view.device.type > BP_DEVICE_CPU; }
  // The env below this wrapper (NULL: none), and the last env of the chain.
  EnvBelow* below() const { return below_.get(); }
  const EnvInstance& innermost() const { return below_ ? below_->env().innermost() : *this; }
  EnvInstance& innermost() { return below_ ? below_->env().innermost() : *this; }
  // With wrappers: the sums of the innermost env's rewards in the episodes of all rows [rows]. NULL: the host sums the rewards.
  const double* own_returns() const { return below_ ? OverInnermost().own_returns() : nullptr; }
  // The innermost env's steps of these rows since the last call; adds the steps that another process made for a row. Without
  // wrappers: 0, and no effect. [control]
  uint64_t TakeOwnSteps(uint64_t begin, uint64_t end) { return below_ ? OverInnermost().TakeOwnSteps(begin, end) : 0; }
  void AddOwnSteps(uint64_t row, uint64_t steps) {
    if (below_) OverInnermost().AddOwnSteps(row, steps);
  }
  // The innermost env's steps in a row's episode; 0 without wrappers. [rows]
  int64_t OwnLength(uint64_t row) const { return below_ ? OverInnermost().own_lengths()[row] : 0; }

  // The first wrapper that replaces or hides a channel of a state role; empty: none.
  std::string ReplacesStates() const;

  void Bind(const std::vector<bp_frame>& frames);
  bp_status Reset(uint32_t slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds) {
    const bp_status status = CallPlugin(id(), [&] { return api_->reset(made_.get(), slot, begin, end, mask, seeds); });
    if (below_ && status == BP_OK) below_->EndReset(begin, end, mask);
    return status;
  }
  bp_status Step(uint32_t slot, uint64_t begin, uint64_t end) {
    const bp_status status = CallPlugin(id(), [&] { return api_->step(made_.get(), slot, begin, end); });
    if (below_ && status == BP_OK) below_->EndStep(slot, begin, end);
    return status;
  }
  // The error of the env that failed, or this one's.
  [[noreturn]] void Fail(bp_status status, const std::string& doing) {
    if (below_) below_->ThrowFailure();
    PluginInstance::Fail(status, doing);
  }
  // Destroys the whole chain.
  void Destroy() {
    PluginInstance::Destroy();
    if (below_) below_->env().Destroy();
  }
  // For an env that takes them: the seeds of each row's next `per_row` episodes, [rows, per_row].
  void NextSeeds(uint64_t per_row, const std::vector<uint64_t>& seeds);
  // Throws TrialFailure if its spec differs from the one at creation.
  void CheckUnchanged() const;

 private:
  CheckedEnvSpec ReadSpec() const;
  void CheckResets();
  bool ReadStepsWhole() const;
  void CheckWrapper() const;
  EnvBelow& OverInnermost() const { return below_->env().below_ ? below_->env().OverInnermost() : *below_; }

  std::unique_ptr<EnvBelow> below_;
  uint64_t rows_;
  bool resets_itself_, steps_whole_ = false, takes_seeds_ = false;
  CheckedEnvSpec spec_;
  std::vector<const bp_channel*> channels_;
};

// The flags of a wrapper over an env with the flags `below`.
uint64_t FlagsOfChain(uint64_t wrapper, uint64_t below);

// A learner is made for one env; other instances that it acts in must have the same channels. Throws TrialFailure
// (BP_E_CONFIG).
void CheckSameSpaces(const EnvInstance& training, const EnvInstance& evaluation);

class LearnerInstance : public PluginInstance<bp_learner, bp_learner_api> {
 public:
  LearnerInstance(const LoadedModule& module, const std::string& id, const HostSinks& sinks, const InstanceOptions& options,
                  const EnvInstance& env, uint64_t seed);

  const CheckedLearnerSpec& spec() const { return spec_; }
  const std::vector<const bp_channel*>& act_out() const { return act_out_; }
  const std::vector<const bp_channel*>& carry() const { return carry_; }  // outputs that `act` also reads
  const std::vector<std::string>& act_in() const { return spec_.act_in; }
  const std::vector<std::string>& keep() const { return spec_.keep; }
  // True if its result for a row is bitwise independent of the other rows in the call.
  bool row_exact() const { return (flags_ & BP_FLAG_ROW_EXACT) != 0 || (spec_.flags & BP_LEARNER_ROW_EXACT) != 0; }

  LearnerFiles& files() { return files_; }
  const LearnerFiles& files() const { return files_; }
  // Holds its buffers; without effect if it has not asked for it.
  const std::shared_ptr<LearnerMemory>& memory() const { return memory_; }
  bool large() const { return (spec_.flags & BP_LEARNER_STATE_LARGE) != 0; }

  bp_request Plan(const bp_limits& limits);
  void Consume(const bp_delivery& delivery);
  bp_status Act(const bp_act& act) {
    return CallPlugin(id(), [&] { return api_->act(made_.get(), &act); });
  }
  void CheckUnchanged(const EnvInstance& env) const;

 private:
  CheckedLearnerSpec ReadSpec(const EnvInstance& env) const;
  static LearnerFiles& OfferFiles(HostServices* services);
  static std::shared_ptr<LearnerMemory> OfferMemory(HostServices* services);

  LearnerFiles& files_;  // of services_, because `destroy` may still read them
  const std::shared_ptr<LearnerMemory> memory_;
  CheckedLearnerSpec spec_;
  std::vector<const bp_channel*> act_out_, carry_;
};

}  // namespace backplane
