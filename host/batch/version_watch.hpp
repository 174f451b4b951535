// Versions that plugins tell as facts ("version/NAME", bp.host.facts/1): trials of one batch should have had the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/trial_result.hpp"

namespace backplane {

class VersionWatch {
 public:
  // What an attempt told, of the trial that `name` names. Returns a sentence for each that differs from an earlier one's; it is
  // compared with from then on.
  std::vector<std::string> Look(const PluginFacts& facts, const std::string& name);

 private:
  struct Known {
    std::string version, trial;
  };
  std::map<std::string, Known> known_;  // by plugin and name
};

// Whether any fact is such a version.
bool TellsVersions(const PluginFacts& facts);

}  // namespace backplane
