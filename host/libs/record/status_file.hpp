// The status file of a trial, mapped while it runs: phase, iteration, steps; also readable after a crash.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backplane {

inline constexpr size_t kMaxLive = 6, kMaxLiveName = 63;  // bytes

// The layout of the mapped status file. The trial writes, the supervisor reads at any time, also after a crash: single
// aligned words are atomic on the platforms we run on, and a torn text costs one wrong line on a screen.
inline constexpr char kStatusMagic[8] = "BPSTAT3";
struct StatusFile {
  char magic[8];       // kStatusMagic
  uint64_t heartbeat;  // grows while the trial is alive
  uint64_t iteration, env_steps, episodes;
  double progress;        // 0 to 1
  double sps;             // of the last iteration
  double episode_return;  // mean over the last 100 episodes; NaN before the first
  char phase[32];
  char plugin[64];  // whose code runs or ran last: for the record after a crash
  char line[256];   // last log line
  struct Live {
    char name[kMaxLiveName + 1];
    double value;    // NaN: none yet
    uint32_t added;  // not of output.live: it gives way where there is no room
  };
  Live live[kMaxLive];  // of output.live in its order, then what was added; an empty name ends them
  // Since the process began, without the time in which it was stopped, and that time; both 0 where the writer knew neither.
  double own_s, suspended_s;
};

}  // namespace backplane
