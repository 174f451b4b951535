// `backplane-trial play`: a worker of a trial (trial/run_worker.hpp). Started by trials and not by people, so it is none of the
// commands.
#pragma once

#include <string>
#include <vector>

namespace backplane {

[[noreturn]] void Play(const std::vector<std::string>& arguments);

}  // namespace backplane
