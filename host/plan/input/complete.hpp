// Completion of values that the host knows: files, results folders, trials, plugins, paths of an experiment file.
#pragma once

#include <string>

#include "arguments/complete.hpp"

namespace backplane {

Offers OfferValues(const std::string& type, const TypedLine& line);

}  // namespace backplane
