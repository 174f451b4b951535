// The sentences of a finding that all renderings share.
#pragma once

#include <string>

#include "rules/findings.hpp"

namespace backplane {

// "cpu_quota_pct: 98.2 % (threshold 90 %), mean after the first iteration, 12 samples"; without a threshold nothing in brackets
std::string EvidenceText(const Evidence& evidence);

}  // namespace backplane
