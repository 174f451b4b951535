// `backplane-report --check`: what is wrong with `report:` of an experiment file, before anything is started.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/fields.hpp"
#include "record/recorded_measures.hpp"
#include "record/report_section.hpp"

namespace backplane {

// What `compare:` of the experiment judges by.
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

// What is wrong with a key, or with an entry of its list: {"report.columns.1", "report.columns: entry 2: unknown key 'x'"}.
struct ReportError {
  std::string path;
  std::string message;

  static void Fields(auto& self, auto&& visit) {
    visit("path", self.path);
    visit("message", self.message);
  }
};

// A name under which nothing is recorded, unless it is a path of a point's configuration.
struct Misnamed {
  std::string path;               // "report.columns.1", "output.live.0", kComparedMetric
  std::string name;               // "train/los"
  std::string message;            // "report.columns: nothing records 'train/los'"
  std::vector<std::string> near;  // names that it may have been meant for; empty: a plugin that does not tell may record it

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
  bool undirected = false;  // nobody says whether up or down is better of what is compared
  int direction = 0;        // what those who record it say: 1 up is better, -1 down, 0 neither

  static void Fields(auto& self, auto&& visit) {
    visit("errors", self.errors);
    visit("misnamed", self.misnamed);
    visit("undirected", self.undirected);
    visit("direction", self.direction);
  }
};

}  // namespace backplane
