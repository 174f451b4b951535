// What is wrong with `report:` in an experiment file, before anything is started.
#pragma once

#include <vector>

#include "config/loader.hpp"

namespace backplane {

std::vector<Diagnostic> CheckReport(const LoadedExperiment& loaded);

}  // namespace backplane
