// Writes a report to disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "render/document.hpp"

namespace backplane {

// The table for <name>_results.csv. Throws std::runtime_error if there is none.
const Table& MainTable(const Document& document);

struct WrittenReport {
  std::vector<std::filesystem::path> files;  // in the order in which a reader would open them
  std::vector<std::string> notes;            // sentences: reasons for missing pictures
  Drawings drawings;
};

// Writes <name>_report.{html,md,txt}, <name>_results.{csv,json}, the figures' PNGs, figures/*.{vl.json,svg} and the
// attachments. Each file appears whole or not at all. Removes unmodified files of an earlier report that this one lacks; the
// hidden file .<name>_report.sha256 lists them. Throws std::runtime_error.
// `results`: further files that the page links to.
WrittenReport WriteReport(const Document& document, const std::filesystem::path& folder,
                          const std::vector<std::pair<std::string, std::filesystem::path>>& results = {});

}  // namespace backplane
