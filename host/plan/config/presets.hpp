// Presets: how a machine of one kind is used well, as values that are written over an experiment file and under --set.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/overrides.hpp"
#include "config/preset_search.hpp"

namespace backplane {

struct PresetValue {
  Override override;
  std::string learner;  // counts where the learner has this name; empty: with every one
};

struct Preset {
  std::vector<PresetValue> values;
  std::string note;  // of `auto`: which one it is, and why
};

// The preset that `search` or the file names, whose name then stands at `preset` in `root`: without folder, `auto` replaced.
// Without one: no values.
Preset ReadPreset(const PresetSearch& search, const std::filesystem::path& experiment, Node* root, Errors* errors);

}  // namespace backplane
