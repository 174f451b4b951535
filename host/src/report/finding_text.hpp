// The sentences of a finding that all renderings share.
#pragma once

#include <string>

#include "analysis/findings.hpp"

namespace backplane {

// "cpu_quota_pct: 98.2 % (threshold 90 %), mean after the first iteration, 12 samples"
std::string EvidenceText(const Evidence& evidence);
// "rollout.threads: 16 -> 2"; of a swept path also how it is changed
std::string ChangeText(const Fix& fix);
// "--set rollout.threads=2", of a swept path "--sweep rollout.threads=16,2"
std::string ChangeArgument(const Fix& fix);
// The change as a piece of an experiment file, to be pasted; a comment says what stood there. Of a swept path comments only,
// for where in `sweep:` it stands is not known.
std::string ChangeYaml(const Fix& fix);

}  // namespace backplane
