// Which report a sweep has by itself.
#pragma once

#include "config/resolver.hpp"

namespace backplane {

// A search has one of kind search, unless the file says another. To be called before the sweep is taken out of `text`.
void SetReportOfSearch(ExperimentText* text);

}  // namespace backplane
