// The sentences of a finding that all renderings share.
#pragma once

#include <string>
#include <vector>

#include "rules/findings.hpp"

namespace backplane {

// "cpu_quota_pct: 98.2 % (threshold 90 %), mean after the first iteration, 12 samples"; without a threshold nothing in brackets
std::string EvidenceText(const Evidence& evidence);
// "rollout.threads: 16 -> 2"
std::string ChangeText(const Fix& fix);
// What is typed for it: values for --set, and one for --sweep if the path is swept.
struct ChangeArguments {
  std::vector<std::string> set, sweep;
};
ChangeArguments ArgumentsOf(const Fix& fix);
// As it is typed: "--set rollout.threads=2", of a swept path "--sweep rollout.threads=16,2", of a point with a name
// "--sweep before:rollout.threads=2"
std::string ChangeArgument(const Fix& fix);
// The line to paste.
std::string ChangeCommand(const Fix& fix);

}  // namespace backplane
