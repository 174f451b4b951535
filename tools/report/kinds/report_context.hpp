// Inputs of every kind of report, in addition to the results.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "record/compare_terms.hpp"
#include "record/report_section.hpp"
#include "rules/findings.hpp"

namespace backplane {

// Terms of a report of kind ab.
struct Comparison {
  CompareTerms terms;
  bool has_looks = false;  // false: all scores form one look
};

struct ReportContext {
  std::string program;   // this program as a person types it: for commands
  std::string made_at;   // "2026-11-21 23:08 UTC"
  ReportSection report;  // its kind is set
  Comparison compare;
  std::vector<OptionHelp> option_help;          // of the plugins that the trials ran with
  std::set<std::string> outside_identity = {};  // as in ReportRequest
  std::filesystem::path folder = {};            // where the report will lie
};

}  // namespace backplane
