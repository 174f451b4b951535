// The one setting of an experiment file whose speed is measured, whatever else the file asks for.
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

// The experiment without its sweep, and of its stages the first. Absent after Complain.
std::optional<SpeedSubject> ReadSubject(const FileArgs& file, PluginSearch* search);

// The same for what changes a setting. `point`: the point of the file's sweep with that name; empty: the experiment without its
// sweep or, where its plugins declare no option that helps against a finding, the first point whose plugins do.
std::optional<SpeedSubject> ReadSubjectToTune(const FileArgs& file, const std::string& point, PluginSearch* search);

}  // namespace backplane
