// Finds where the options in a plugin's error message were set.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct NamedOption {
  std::string path;   // "env.options.n_uavs"
  std::string place;  // "walk.yaml:4:20", "--set"
};

// Options that were set and whose names occur as words in the sentence, in its order. Prefers options of the same name in
// `section` ("learner.options"). `origin`: path of a key -> place.
std::vector<NamedOption> OptionsNamed(const std::string& sentence, const std::map<std::string, std::string>& origin,
                                      const std::string& section);

// The key of the monitor with the options `section` ("monitors.1.options"), and the place of its name in the file. Absent for
// other plugins, or if the place is unknown.
std::optional<NamedOption> MonitorNamed(const std::string& section, const std::string& plugin,
                                        const std::map<std::string, std::string>& origin);

// " (env.options.n_uavs at walk.yaml:4:20)": options whose place is missing in the sentence; empty if there are none.
std::string PlacesText(const std::string& sentence, const std::vector<NamedOption>& options);

}  // namespace backplane
