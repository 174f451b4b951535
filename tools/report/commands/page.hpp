// OUT/index.html, the page of a results folder.
#pragma once

#include "kinds/build_report.hpp"
#include "record/results_folder.hpp"

namespace backplane {

// Writes the final page of a batch, with links to its report, and the index of its parent folder. Throws std::runtime_error.
void WritePage(const MadeReport& made, const std::filesystem::path& out);

}  // namespace backplane
