// OUT/index.html, the page of a results folder.
#pragma once

#include "kinds/build_report.hpp"
#include "record/results_folder.hpp"

namespace backplane {

// That of a batch at its end, with links to the files of its report, and the page that lists the experiments beside it. Throws
// std::runtime_error.
void WritePage(const MadeReport& made, const std::filesystem::path& out);

}  // namespace backplane
