// The status file of a trial, memory-mapped while it runs: phase, iteration, steps. It stays readable after a crash.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backplane {

inline constexpr size_t kMaxLive = 6, kMaxLiveName = 63;  // bytes

// Layout of the status file. The trial writes it; the supervisor reads it at any time, also after a crash. Aligned words are
// atomic on the supported platforms; a torn text only garbles one line on a screen.
inline constexpr char kStatusMagic[8] = "BPSTAT3";
struct StatusFile {
  char magic[8];       // kStatusMagic
  uint64_t heartbeat;  // grows while the trial is alive
  uint64_t iteration, env_steps, episodes;
  double progress;        // 0 to 1
  double sps;             // of the last iteration
  double episode_return;  // mean over the last 100 episodes; NaN before the first
  char phase[32];
  char plugin[64];  // the plugin running now or last, for the record after a crash
  char line[256];   // last log line
  struct Live {
    char name[kMaxLiveName + 1];
    double value;    // NaN: none yet
    uint32_t added;  // not in output.live: dropped first if space is short
  };
  Live live[kMaxLive];  // output.live in its order, then the added ones; ends with an empty name
  // Time since the process started without suspensions, and time in suspensions; both 0 if unknown.
  double own_s, suspended_s;
};

}  // namespace backplane
