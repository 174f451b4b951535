// The error of a path that is no results folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "record/results_folder.hpp"

namespace backplane {

// `name`: the file or folder that it lacks.
inline std::string NotResults(const std::filesystem::path& out, std::string_view name = kPlanName) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(out, error);
  std::string got = "one without " + std::string(name);
  if (!std::filesystem::is_directory(status)) got = std::filesystem::exists(status) ? "a file" : "a path that does not exist";
  return out.string() + ": expected a results folder, got " + got;
}

}  // namespace backplane
