// An open env: its rows, their episodes and resets. Does one step of the host's rollouts per call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "embed/env_channels.hpp"
#include "embed/handles.hpp"
#include "embed/open_env.hpp"
#include "embed/row_threads.hpp"
#include "rollout/action_check.hpp"
#include "rollout/camera.hpp"
#include "rollout/episode_tracker.hpp"
#include "rollout/instance.hpp"

namespace backplane {

enum class Autoreset : int32_t { kSameStep = 0, kNextStep = 1, kDisabled = 2 };

class EmbeddedEnv : public Embedded {
 public:
  // `threads` 0: one per granted core. Throws TrialFailure, PluginError.
  EmbeddedEnv(EnvToOpen about, uint64_t rows, uint64_t seed, unsigned threads);
  ~EmbeddedEnv() override;

  const std::string& spec() const { return spec_; }
  ChannelBuffer& Channel(const std::string& name);
  void SetAutoreset(Autoreset mode);
  void CheckActions(bool on) { checks_actions_ = on; }
  void SetSeed(uint64_t seed);
  void SetTimeLimit(uint64_t steps);  // 0: none

  void Reset(const uint8_t* mask, const uint64_t* seeds);
  void Step();
  void Send();
  void Wait();
  // The error that ended the row's episode in the last step; empty: none did.
  const std::string& ErrorOf(uint64_t row) const;

  struct Picture {
    uint32_t format = 0;  // BP_RENDER_*
    Camera::Size size;
    std::string backdrop, frame;
  };
  const Picture& Draw(uint64_t row);  // valid until the next call

  std::vector<std::byte> Save();  // all rows
  void Load(const void* data, uint64_t n);

  struct StatePart {
    std::string name;
    uint64_t offset, size;
  };
  const std::vector<StatePart>& state_parts() const { return state_parts_; }
  std::vector<double> GetState(uint64_t row, const std::string& name);
  struct PartValues {
    std::string name;
    const double* values;
    uint64_t size;
  };
  void SetState(uint64_t row, const std::vector<PartValues>& parts);

 private:
  enum RowPhase : uint8_t { kPlays, kEnded, kNone };  // kEnded: resets in the next step. kNone: needs a reset
  struct RowEpisodes {
    double episode_return = 0;
    int64_t episode_length = 0;
    uint64_t series = 0, number = 0;  // of the next episode
    uint64_t is_own = 0;              // 1: the series of a seed given only for this row
  };

  unsigned ThreadsFor(unsigned asked) const;
  std::string SpecText();
  void FindState();
  const StatePart& Part(const std::string& name) const;
  std::vector<double> AllState(uint64_t row);
  void RequireRest() const;
  void RequireRow(uint64_t row) const;
  void RequireStarted() const;
  uint64_t TakeSeed(uint64_t row);
  void BeginEpisode(uint64_t row);
  void CheckStep() const;
  std::unique_ptr<EnvInstance> MakeChain(uint64_t rows);
  void RunStep();
  void AssignSeeds();
  void StepRange(uint64_t begin, uint64_t end);
  void StepRows(uint64_t begin, uint64_t end);
  std::string TryStep(uint64_t row);
  void StepRow(uint64_t row);
  void EndEpisode(uint64_t row);
  void ResetMasked(uint64_t begin, uint64_t end);
  [[noreturn]] void RefuseReward(uint64_t begin) const;
  void EndAll();
  // An error may affect any row, so all episodes end.
  template <class Function>
  void OrEndAll(Function&& function) {
    try {
      function();
    } catch (...) {
      EndAll();
      throw;
    }
  }

  const EnvToOpen about_;
  std::vector<std::string> warnings_;
  const HostSinks sinks_;
  const std::unique_ptr<LoadedModule> module_;
  std::vector<std::unique_ptr<LoadedModule>> wrapper_modules_;
  const std::unique_ptr<EnvInstance> chain_;  // the env with its wrappers
  EnvInstance& env_;
  EnvChannels channels_;
  EpisodeTracker tracker_;
  ActionCheck action_check_;
  uint64_t seed_;
  Autoreset mode_ = Autoreset::kSameStep;
  bool checks_actions_ = true;
  std::vector<RowEpisodes> episodes_;  // [rows], like all below
  std::vector<uint8_t> phases_;        // RowPhase
  std::vector<uint8_t> mask_;          // 0 between calls
  std::vector<uint64_t> seeds_;
  std::vector<std::string> errors_;  // of the last step; [0] unless errors end episodes
  std::vector<StatePart> state_parts_;
  Picture picture_;
  RowThreads row_threads_;
  std::string spec_;
};

}  // namespace backplane
