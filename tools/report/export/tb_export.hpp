// Exports a batch's series for TensorBoard, for batches that ran without its monitor.
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

// Writes TO/TRIAL/events.out.tfevents...: a file for the last attempt and for each attempt it resumed. Steps are env steps;
// times are the attempt's start plus the line's time. Repeated exports replace the files. Returns the number of exported
// trials. Throws std::runtime_error if a file cannot be written.
size_t ExportTensorBoard(const ResultsFolder& folder, const std::vector<PlanLine>& plan, const BatchRecord& record,
                         const std::filesystem::path& to);

}  // namespace backplane
