// What `backplane` asks of `backplane-report`, as JSON on the standard input of `backplane-report COMMAND`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/compare_terms.hpp"

namespace backplane {

// --make: a report of results folders. On its standard output stands what a person reads of it.
struct ReportRequest {
  std::vector<std::string> folders;  // of results, at least one
  std::string to;                    // where it is written; empty: the folder that belongs to them
  std::string kind;                  // empty: as the experiment says, else as its sweep suggests
  std::string program;               // as a person types it
  std::string form = "text";         // or "line", or "json": the report as a document; "page": of OUT/index.html alone
  std::string below;                 // of the text: a line below the headline; empty: the report's title
  uint64_t width = 80;               // columns of the screen
  bool colour = false;               // of the text
  // Keys and sections of an experiment file whose values change no number of a trial: trials that differ in them alone may be
  // scored against each other.
  std::vector<std::string> outside_identity;
  std::optional<CompareTerms> compare;  // of kind ab: of all scores that there are; absent: as the experiment says

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

// --explain: what a finding means; "list": which there are. Exit code 2: there is none of that name.
struct ExplainRequest {
  std::string id;

  static void Fields(auto& self, auto&& visit) { visit("id", self.id); }
};

// --export: writes the results of a folder in another form, and prints where to. Exit code 1: there is nothing to export.
struct ExportRequest {
  std::string out, format;  // format: csv, tb or optuna
  std::string to;           // empty: standard output for csv, OUT/tb, OUT/optuna.journal

  static void Fields(auto& self, auto&& visit) {
    visit("out", self.out);
    visit("format", self.format);
    visit("to", self.to);
  }
};

// --film: writes a film in the form that the name's ending says, and says so.
struct FilmRequest {
  std::string film, title, to;  // a file that holds a Film (record/film.hpp); what stands below it; the file to be written
  std::optional<double> recorded_return;  // of the episode, in the trial's record

  static void Fields(auto& self, auto&& visit) {
    visit("film", self.film);
    visit("title", self.title);
    visit("to", self.to);
    visit("recorded_return", self.recorded_return);
  }
};

}  // namespace backplane
