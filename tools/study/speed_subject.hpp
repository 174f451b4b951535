// The single setting of an experiment file whose speed is measured, whatever else the file contains.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/experiment.hpp"
#include "input/run_args.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {

struct SpeedSubject {
  Experiment experiment;
  std::vector<std::string> notes;  // sentences for the user
};

// The experiment without its sweep and with only its first stage. Absent after Complain.
std::optional<SpeedSubject> ReadSubject(const FileArgs& file, PluginSearch* search);

// The same for tuning. `point`: that point of the file's sweep. Empty: the experiment without its sweep. If its plugins declare
// no option that helps against a finding, the first point whose plugins do.
std::optional<SpeedSubject> ReadSubjectToTune(const FileArgs& file, const std::string& point, PluginSearch* search);

}  // namespace backplane
