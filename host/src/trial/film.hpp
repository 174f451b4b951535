// One evaluation episode of a trial as pictures: made by the trial's process, which alone runs plugins, and handed on as JSON.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "rollout/evaluator.hpp"
#include "trial/threads.hpp"

namespace backplane {

// All pictures are of one size and one form.
struct Film {
  uint32_t width = 0, height = 0;   // pixels
  bool png = false;                 // files in base64; else the inside of an <svg>, in units of pixels
  std::string backdrop;             // behind every frame; may be empty
  std::vector<std::string> frames;  // one for each state of the episode, the first included
  std::vector<std::string> notes;   // what the episode came to: "return 579.8", "success rate 0.8"

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("width", self.width);
    visit("height", self.height);
    visit("png", self.png);
    visit("backdrop", self.backdrop);
    visit("frames", self.frames);
    visit("notes", self.notes);
  }
};

// Plays episode `episode` of an evaluation with this seed: GREEDY actions, the start that the evaluation's row of that number
// has. `env` has one row and is bound here. Throws TrialFailure (BP_E_UNSUPPORTED) if the env does not draw. [control]
Film PlayFilm(EnvInstance& env, LearnerInstance& learner, TrialThreads& threads, uint64_t seed, uint64_t episode,
              const std::atomic<bool>& cancelled);

}  // namespace backplane
