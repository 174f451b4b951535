// The env below a wrapper ("bp.host.env/1"): serves the wrapper's calls, allocates the buffers of the channels that it replaces
// or hides, ends episodes at time limits, and sums rewards and steps of the innermost env.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backplane/ext/wrapper.h"
#include "rollout/buffers.hpp"
#include "rollout/check_spec.hpp"

namespace backplane {

class EnvInstance;

// INFO of a wrapped env: the sum of the rewards that the learner gets in the episode so far.
inline constexpr char kLearnerReturn[] = "ep/learner_return";

class EnvBelow {
 public:
  // Throws TrialFailure (BP_E_CONFIG) if no wrapper can be over this env.
  explicit EnvBelow(std::unique_ptr<EnvInstance> env);
  ~EnvBelow();
  static const bp_host_env_1* Api();

  EnvInstance& env() const { return *env_; }
  // The wrapper's spec as the env above sees it: the channels below; `declared` replaces and adds some.
  CheckedEnvSpec Join(const std::string& wrapper, const bp_env_spec* declared, uint64_t flags,
                      const std::function<bool(const char*)>& hides);
  // Binds the env below. `frames` are for the joined spec. Returns the wrapper's own frames. [control]
  const std::vector<bp_frame>& Bind(const CheckedEnvSpec& joined, const std::vector<bp_frame>& frames);
  void CheckGuards() const;  // of its own buffers. Throws TrialFailure. [control]

  bool replaces_states() const { return replaces_states_; }

  // Call after the wrapper's step or reset. [rows]
  void EndStep(uint32_t slot, uint64_t begin, uint64_t end);
  void EndReset(uint64_t begin, uint64_t end, const uint8_t* mask);
  // Throws the error of the last failed call of the env below; does nothing if none failed.
  void ThrowFailure();

  // For a wrapper over the innermost env: the sum of its own rewards and its steps in each row's episode.
  const double* own_returns() const { return own_returns_.data(); }
  const int64_t* own_lengths() const { return own_lengths_.data(); }
  // Its steps of these rows since the last call. [control]
  uint64_t TakeOwnSteps(uint64_t begin, uint64_t end);
  // Counts steps of a row that another process made. [control]
  void AddOwnSteps(uint64_t row, uint64_t steps) { own_steps_[row] += steps; }
  // The host's part of a row's snapshot.
  static constexpr uint64_t kRowBytes = 4 * sizeof(double);
  void Get(uint64_t row, void* out) const;
  void Set(uint64_t row, const void* data);

 private:
  struct Place {
    uint8_t* data = nullptr;  // NULL: the slot has no such entry
    template <class T>
    T* as() const {
      return reinterpret_cast<T*>(data);
    }
  };
  // The channels that the host reads and writes in one slot.
  struct SlotPlaces {
    Place own_reward, own_truncated, reward, truncated, learner_return;
  };
  class Calls;

  bool innermost() const;
  bp_tensor* Own(size_t channel);
  void FindPlaces(const CheckedEnvSpec& joined, const std::vector<bp_frame>& frames);
  bp_status Step(uint32_t slot, uint64_t begin, uint64_t end);
  bp_status Reset(uint32_t slot, uint64_t begin, uint64_t end, const uint8_t* mask, const uint64_t* seeds);
  void CountStep(uint32_t slot, uint64_t begin, uint64_t end);
  template <class Function>
  bp_status Serve(const char* doing, Function&& function) noexcept;

  const std::unique_ptr<EnvInstance> env_;
  CheckedEnvSpec spec_;                                    // of the env below, with TRUNCATED
  std::vector<std::string> replaced_, hidden_, declared_;  // by the wrapper
  bool replaces_states_ = false;                           // or hides one
  std::vector<std::unique_ptr<ChannelBuffer>> own_;        // by channel of spec_; NULL: the memory of the env above
  std::vector<std::vector<bp_tensor*>> tensors_, wrapper_tensors_;
  std::vector<bp_frame> frames_, wrapper_frames_;
  std::vector<SlotPlaces> places_;
  uint64_t rows_, own_rewards_per_row_ = 1, rewards_per_row_ = 1;
  int64_t own_limit_, limit_ = 0;  // 0: none
  std::vector<double> own_returns_, learner_returns_;
  std::vector<int64_t> own_lengths_, lengths_;
  std::vector<uint64_t> own_steps_;  // by row
  std::mutex mutex_;                 // guards failure_
  std::exception_ptr failure_;
};

}  // namespace backplane
