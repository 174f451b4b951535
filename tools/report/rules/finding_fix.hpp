// Proposed changes of the experiment file: from the value in the configuration to a value within the option's range.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/finding_case.hpp"

namespace backplane {

// The nearest value in `range` ("[1,)", "(0,1]", "auto|[1,)"; empty: any). Integers keep a distance of 1 from excluded bounds;
// a fraction that would reach one is absent.
std::optional<double> ClampToRange(const std::string& range, double value, bool integer);

// Adds a change to `to`, unless the file lacks the key or already has the value. The second form is for keys outside a trial's
// configuration.
void AddFix(const Case& c, const std::string& path, const nlohmann::json& to, std::vector<Fix>* fixes);
void AddFix(const Case& c, const std::string& path, const nlohmann::json& from, const nlohmann::json& to,
            std::vector<Fix>* fixes);

// Doubles or halves the number, clamped to `range`, as above. Whole numbers from 1 on never drop to 0.
void AddDoubled(const Case& c, const std::string& path, const std::string& range, std::vector<Fix>* fixes);
void AddHalved(const Case& c, const std::string& path, const std::string& range, std::vector<Fix>* fixes);

// Fixes that plugins' options offer for a finding, by effort and effect. Numbers to lower come first because they save work;
// higher values only spread it. Switches, such as mixed precision, come last because they change the arithmetic.
void AddOptionFixes(const Case& c, const std::string& finding, std::vector<Fix>* fixes);

// More cores for the trial, if the batch has more than it grants.
void AddMoreCores(const Case& c, std::vector<Fix>* fixes);

}  // namespace backplane
