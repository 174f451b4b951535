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

// With the form "page" the document alone: nothing is drawn and nothing written. Throws std::runtime_error: no results folder,
// another schema, report kinds that differ, a folder that can not be written.
MadeReport MakeReport(const ReportRequest& request);

// What the trials of a comparison say so far. Throws likewise.
CompareAnswer JudgeArms(const JudgeRequest& request);

// The sentence that the report of these results begins with, whichever kind they ask for. Throws likewise.
std::string FirstSentence(const std::vector<ResultSet>& sets, const std::string& program);

// The measure by which that sentence answers. Throws likewise.
Question DecidingQuestion(const std::vector<ResultSet>& sets);

// Files and folders of a batch that its page links to.
std::vector<std::pair<std::string, std::filesystem::path>> FilesOf(const std::filesystem::path& out);

// What the plugins' options of these sets help against, as their run.json says.
std::vector<OptionHelp> HelpsOf(const std::vector<ResultSet>& sets);

// The output.report_dir that the sets name, if they do not name several; OUT/report for a single set; else a folder of these
// sets alone: outputs/A+B_1f3a09_report, of their folders' names and a hash of their places.
std::filesystem::path DefaultReportFolder(const std::vector<ResultSet>& sets);

}  // namespace backplane
