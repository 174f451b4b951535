// From results folders to a report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kinds/question.hpp"
#include "record/compare_answer.hpp"
#include "record/report_requests.hpp"
#include "render/document.hpp"
#include "render/write_report.hpp"

namespace backplane {

struct MadeReport {
  Document document;
  std::vector<std::pair<std::string, std::filesystem::path>> results;  // files of the results folders
  std::filesystem::path page_of;  // the results folder that has a page; empty: there are several, or it is not to have one
  std::filesystem::path folder;
  WrittenReport written;
};

// With the form "page", only builds the document: draws and writes no files. Throws std::runtime_error for a missing results
// folder, an unknown schema, conflicting report kinds or an unwritable folder.
MadeReport MakeReport(const ReportRequest& request);

// Judges the available trials of a comparison. Throws like MakeReport.
CompareAnswer JudgeArms(const JudgeRequest& request);

// The first sentence of the report on these results, for any report kind. Throws like MakeReport.
std::string FirstSentence(const std::vector<ResultSet>& sets, const std::string& program);

// The measure behind FirstSentence. Throws like MakeReport.
Question DecidingQuestion(const std::vector<ResultSet>& sets);

// Files and folders of a batch that its page links to.
std::vector<std::pair<std::string, std::filesystem::path>> FilesOf(const std::filesystem::path& out);

// The problems that the plugins' options solve, read from each run.json.
std::vector<OptionHelp> HelpsOf(const std::vector<ResultSet>& sets);

// The report.joint_dir of several sets, or else the output.report_dir that the sets name, if they do not name several;
// OUT/report for a single set; else a folder of these sets alone: outputs/A+B_1f3a09_report, of their folders' names and a hash
// of their places.
std::filesystem::path DefaultReportFolder(const std::vector<ResultSet>& sets);

}  // namespace backplane
