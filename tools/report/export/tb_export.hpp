// The series of a batch as TensorBoard reads them, for batches that were run without a monitor that writes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/batch_record.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"

namespace backplane {

// A name for a folder: letters, digits and "._=,+-" stay, anything else becomes "_". Equal names get a
// part of the trial's id.
std::vector<std::string> FolderNames(const std::vector<PlanLine>& trials, bool several_seeds);

// TO/<name of the trial>/events.out.tfevents...: one file for each attempt that counts, which is the last one and those it went
// on from. The step is env steps, the time that of the attempt's start plus the line's own. Exporting again replaces the files.
// Returns how many trials had something to export. Throws std::runtime_error when a file can not be written.
size_t ExportTensorBoard(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record,
                         const std::filesystem::path& to);

}  // namespace backplane
