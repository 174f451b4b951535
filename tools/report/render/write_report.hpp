// A report on disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "render/document.hpp"

namespace backplane {

// The one that <name>_results.csv holds. Throws std::runtime_error if there is none.
const Table& MainTable(const Document& document);

struct WrittenReport {
  std::vector<std::filesystem::path> files;  // in the order in which a person would open them
  std::vector<std::string> notes;            // sentences: why a picture is missing
  Drawings drawings;
};

// <name>_report.{html,md,txt}, <name>_results.{csv,json}, the figures' PNGs, figures/*.{vl.json,svg} and the attachments. Each
// file is whole or not there. Files of an earlier report of that name that this one does not have any more are removed, if they
// still are as they were written; the hidden file .<name>_report.sha256 lists them. Throws std::runtime_error.
// `results`: files that its page links to beside its own.
WrittenReport WriteReport(const Document& document, const std::filesystem::path& folder,
                          const std::vector<std::pair<std::string, std::filesystem::path>>& results = {});

}  // namespace backplane
