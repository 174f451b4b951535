// Where the options were set that a plugin's sentence names.
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

// Options that were set and whose names stand in the sentence as words, in its order. Of options of one name those in `section`
// ("learner.options") are meant. `origin`: path of a key -> place.
std::vector<NamedOption> OptionsNamed(const std::string& sentence, const std::map<std::string, std::string>& origin,
                                      const std::string& section);

// The key of the monitor whose options are in `section` ("monitors.1.options"), and the place of its name in the file. Absent
// for other plugins, or if the place is not known.
std::optional<NamedOption> MonitorNamed(const std::string& section, const std::string& plugin,
                                        const std::map<std::string, std::string>& origin);

// " (env.options.n_uavs at walk.yaml:4:20)": those whose place the sentence does not give itself; empty if none is left.
std::string PlacesText(const std::string& sentence, const std::vector<NamedOption>& options);

}  // namespace backplane
