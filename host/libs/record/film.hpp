// One evaluation episode of a trial as pictures: made by the trial's process, which alone runs plugins; all of one size and
// form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

// What a file with a film can be, by the ending of its name: a picture that moves by itself, a page with controls, videos.
inline constexpr const char* kFilmEndings[] = {".svg", ".html", ".gif", ".webm"};

struct Film {
  uint32_t width = 0, height = 0;   // pixels
  bool png = false;                 // files in base64; else the inside of an <svg>, in units of pixels
  std::string backdrop;             // behind every frame; may be empty
  std::vector<std::string> frames;  // of every `every`-th state, the first and the last included
  uint64_t every = 1;
  double frame_s = 0.2;            // a frame is shown for so long
  uint64_t slower = 1;             // times, than the world that the env simulates; 0: it has no time
  std::vector<double> returns;     // after each step: the episode's return so far
  std::vector<std::string> notes;  // what the episode came to: "return 579.8", "success rate 0.8"

  uint64_t steps() const { return returns.size(); }
  uint64_t StepOf(size_t frame) const { return frame + 1 == frames.size() ? steps() : frame * every; }

  static void Fields(auto& self, auto&& visit) {
    visit("width", self.width);
    visit("height", self.height);
    visit("png", self.png);
    visit("backdrop", self.backdrop);
    visit("frames", self.frames);
    visit("every", self.every);
    visit("frame_s", self.frame_s);
    visit("slower", self.slower);
    visit("returns", self.returns);
    visit("notes", self.notes);
  }
};

}  // namespace backplane
