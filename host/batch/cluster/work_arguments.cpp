#include "cluster/work_arguments.hpp"

#include <stdexcept>

#include "text/units.hpp"

namespace backplane {

WorkArguments ReadWorkArguments(const std::vector<std::string>& arguments) {
  WorkArguments read;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    const std::string key = argument.substr(0, equals), value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    const std::optional<int64_t> number = ParseInteger(value);
    if (key == "--folder") {
      read.at.folder = value;
    } else if (key == "--token") {
      read.token = value;
    } else if (key == "--worker") {
      read.worker = value;
    } else if (key == "--slots" && number && *number > 0) {
      read.slots = static_cast<size_t>(*number);
    } else if (key == "--job" && number && *number > 0) {
      read.only = static_cast<JobId>(*number);
    } else {
      throw std::runtime_error("work: wrong argument '" + argument + "'; this command is for engines only");
    }
  }
  if (read.at.folder.empty() || read.worker.empty()) throw std::runtime_error("work: wanted --folder=DIR and --worker=NAME");
  return read;
}

}  // namespace backplane
