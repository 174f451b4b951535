// Requests of `backplane` to `backplane-report`, as JSON on the standard input of `backplane-report COMMAND`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/compare_terms.hpp"

namespace backplane {

// --make: builds a report of results folders and prints its readable form on standard output.
struct ReportRequest {
  std::vector<std::string> folders;  // results folders, at least one
  std::string to;                    // output file; empty: the folder that they belong to
  std::string kind;                  // empty: the experiment's own, else derived from its sweep
  std::string program;               // the command name to show
  std::string form = "text";         // or "line"; "json": the report as a document; "page": only OUT/index.html
  std::string below;                 // text form: a line below the headline; empty: the report's title
  uint64_t width = 80;               // screen width in columns
  bool colour = false;               // for the text form
  // Keys and sections of an experiment file that do not affect the results of a trial. Trials that differ only in these are
  // comparable.
  std::vector<std::string> outside_identity;
  std::optional<CompareTerms> compare;  // kind ab: analyses all scores together; absent: the experiment's own terms

  static void Fields(auto& self, auto&& visit) {
    visit("folders", self.folders);
    visit("to", self.to);
    visit("kind", self.kind);
    visit("compare", NullIfAbsent(self.compare));
    visit("program", self.program);
    visit("form", self.form);
    visit("below", self.below);
    visit("width", self.width);
    visit("colour", DefaultIfMissing(self.colour));
    visit("outside_identity", DefaultIfMissing(self.outside_identity));
  }
};

// --table: how the trials of a batch without a report ended, as text.
struct TableRequest {
  std::string out;
  std::vector<std::string> live;  // names of output.live
  uint64_t width = 80;
  bool colour = false;

  static void Fields(auto& self, auto&& visit) {
    visit("out", self.out);
    visit("live", self.live);
    visit("width", self.width);
    visit("colour", DefaultIfMissing(self.colour));
  }
};

// --explain: explains a finding; "list" lists all. Exit code 2 if the name is unknown.
struct ExplainRequest {
  std::string id;

  static void Fields(auto& self, auto&& visit) { visit("id", self.id); }
};

// --export: writes the results of a folder in a different format and prints the path. Exit code 1: there is nothing to export.
struct ExportRequest {
  std::string out, format;  // format: csv, tb or optuna
  std::string to;           // empty: standard output for csv, OUT/tb, OUT/optuna.journal

  static void Fields(auto& self, auto&& visit) {
    visit("out", self.out);
    visit("format", self.format);
    visit("to", self.to);
  }
};

// --film: writes a film in the format of the file name's extension and prints its path.
struct FilmRequest {
  std::string film, title, to;            // file with a Film (record/film.hpp); caption; output file
  std::optional<double> recorded_return;  // of the episode, from the trial's record

  static void Fields(auto& self, auto&& visit) {
    visit("film", self.film);
    visit("title", self.title);
    visit("to", self.to);
    visit("recorded_return", self.recorded_return);
  }
};

}  // namespace backplane
