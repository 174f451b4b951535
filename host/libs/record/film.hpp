// One evaluation episode of a trial as pictures: made by the trial's process, which alone runs plugins; all of one size and
// form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

struct Film {
  uint32_t width = 0, height = 0;   // pixels
  bool png = false;                 // files in base64; else the inside of an <svg>, in units of pixels
  std::string backdrop;             // behind every frame; may be empty
  std::vector<std::string> frames;  // one for each state of the episode, the first included
  std::vector<std::string> notes;   // what the episode came to: "return 579.8", "success rate 0.8"

  static void Fields(auto& self, auto&& visit) {
    visit("width", self.width);
    visit("height", self.height);
    visit("png", self.png);
    visit("backdrop", self.backdrop);
    visit("frames", self.frames);
    visit("notes", self.notes);
  }
};

}  // namespace backplane
