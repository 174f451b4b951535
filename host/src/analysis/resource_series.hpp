// The samples of one trial's use of the machine: resources.csv, whatever columns it has.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "analysis/number.hpp"

namespace backplane {

// Mean, p95 and max of each column over the samples after the first iteration, over all where there are no later ones or the
// file does not say. A column without a finite number is left out; so are the columns that say when a sample was taken. An
// absent file has no columns.
std::map<std::string, Number> ReadResourceSeries(const std::filesystem::path& file);

}  // namespace backplane
