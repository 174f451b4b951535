// `backplane-report --check`: validates `report:` of an experiment file before a trial starts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "record/recorded_measures.hpp"
#include "record/report_section.hpp"

namespace backplane {

// The measure that decides `compare:` of the experiment.
struct ComparedMeasure {
  std::string metric;                    // empty: none, or the one that every trial has
  std::optional<std::string> direction;  // absent: the measure's own

  static void Fields(auto& self, auto&& visit) {
    visit("metric", self.metric);
    visit("direction", self.direction);
  }
};
inline constexpr char kComparedMetric[] = "compare.metric";

struct ReportCheckRequest {
  ReportSection report;
  std::vector<std::string> live;  // output.live
  ComparedMeasure compared;
  std::optional<RecordedMeasures> recorded;  // absent: not known yet, only `errors`

  static void Fields(auto& self, auto&& visit) {
    visit("report", self.report);
    visit("live", self.live);
    visit("compared", self.compared);
    visit("recorded", self.recorded);
  }
};

// An error in a key or in an entry of its list: {"report.columns.1", "report.columns: entry 2: unknown key 'x'"}.
struct ReportError {
  std::string path;
  std::string message;

  static void Fields(auto& self, auto&& visit) {
    visit("path", self.path);
    visit("message", self.message);
  }
};

// A metric name that no plugin records and that is not a path of a point's configuration.
struct Misnamed {
  std::string path;               // "report.columns.1", "output.live.0", kComparedMetric
  std::string name;               // "train/los"
  std::string message;            // "report.columns: nothing records 'train/los'"
  std::vector<std::string> near;  // similar names; empty if a plugin that declares no metrics may record it

  static void Fields(auto& self, auto&& visit) {
    visit("path", self.path);
    visit("name", self.name);
    visit("message", self.message);
    visit("near", self.near);
  }
};

struct ReportCheckAnswer {
  std::vector<ReportError> errors;
  std::vector<Misnamed> misnamed;
  bool undirected = false;  // the direction of the compared metric is unknown
  int direction = 0;        // declared by the plugins that record it: 1 up is better, -1 down, 0 neither

  static void Fields(auto& self, auto&& visit) {
    visit("errors", self.errors);
    visit("misnamed", self.misnamed);
    visit("undirected", self.undirected);
    visit("direction", self.direction);
  }
};

}  // namespace backplane
