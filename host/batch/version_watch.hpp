// Compares versions that plugins report as facts ("version/NAME", bp.host.facts/1) across the trials of a batch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/trial_result.hpp"

namespace backplane {

class VersionWatch {
 public:
  // Adds the facts of an attempt of the trial `name`. Returns a sentence for each version that differs from an earlier one; the
  // new one then replaces it.
  std::vector<std::string> Look(const PluginFacts& facts, const std::string& name);

 private:
  struct Known {
    std::string version, trial;
  };
  std::map<std::string, Known> known_;  // by plugin and name
};

// True if any fact is a version.
bool TellsVersions(const PluginFacts& facts);

}  // namespace backplane
