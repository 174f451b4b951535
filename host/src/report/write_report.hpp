// A report on disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/document.hpp"

namespace backplane {

struct WrittenReport {
  std::vector<std::filesystem::path> files;  // in the order in which a person would open them
  std::vector<std::string> notes;            // sentences: why a picture is missing
};

// <name>_report.{html,md,txt}, <name>_results.{csv,json}, the figures' PNGs, figures/*.{gp,csv} and the attachments. Each file
// is whole or not there. Files of an earlier report that this one does not have any more are removed. Throws
// std::runtime_error.
WrittenReport WriteReport(const Document& document, const std::filesystem::path& folder);

}  // namespace backplane
