// The order of `backplane inspect` to a trial's process, which replays the trial in a folder of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

struct MomentOrder {
  uint64_t iteration = 1;        // from 1; the trial ends after it
  uint64_t row = 0, step = 0;    // of the rollout, from 0
  std::filesystem::path folder;  // existing; for the files of the rollout, the picture and moment.json

  static void Fields(auto& self, auto&& visit) {
    visit("iteration", self.iteration);
    visit("row", self.row);
    visit("step", self.step);
    visit("folder", self.folder);
  }
};

// One channel of the rollout, as the file NAME.npy of NumPy: [steps, or one more for states, lead, shape...].
struct MomentChannel {
  std::string name, file, role;  // role: "observation", "action", "reward", "info", ...
  std::vector<int64_t> shape;
  std::vector<double> values;  // of the row at the step

  static void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("file", self.file);
    visit("role", self.role);
    visit("shape", self.shape);
    visit("values", self.values);
  }
};

struct MomentAnswer {
  std::vector<MomentChannel> channels;
  bool picture = false;  // moment.svg or moment.png was written
  std::string why_not;   // the reason for no picture

  static void Fields(auto& self, auto&& visit) {
    visit("channels", self.channels);
    visit("picture", self.picture);
    visit("why_not", self.why_not);
  }
};

}  // namespace backplane
