// Names of `output.live` that no measure of the trial has.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// A sentence for each of `live` that is not in `names`, with its `place` in the file ("" if not known). With `evaluated` the
// episodes' measures (return, ep/NAME) count under eval/ too.
std::vector<std::string> UnknownLive(const std::vector<std::string>& live, std::vector<std::string> names, bool evaluated,
                                     const std::string& place);

}  // namespace backplane
