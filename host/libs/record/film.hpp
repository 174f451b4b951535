// An evaluation episode as pictures of the same size and format. The trial's process makes them, because only it runs plugins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/fields.hpp"

namespace backplane {

// File types of a film, by extension: an animated picture, a page with controls, two kinds of video.
inline constexpr const char* kFilmEndings[] = {".svg", ".html", ".gif", ".webm"};

struct Film {
  uint32_t width = 0, height = 0;   // pixels
  bool png = false;                 // files in base64; else the content of an <svg>, in pixel units
  std::string backdrop;             // behind every frame; may be empty
  std::vector<std::string> frames;  // each `every`-th state, including the first and the last
  uint64_t every = 1;
  double frame_s = 0.2;            // display time of a frame
  uint64_t slower = 1;             // slow-motion factor compared with the env's own time; 0: the env has no time
  std::vector<double> returns;     // after each step: the episode's return so far
  std::vector<std::string> notes;  // results of the episode: "return 579.8", "success rate 0.8"

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
