// A report as data, stored in `<name>_results.json`. Text, Markdown, HTML and CSV are renderings of it and have no other
// input. Kinds of report differ only in this data.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "figures/draw_figures.hpp"
#include "rules/findings.hpp"
#include "text/table.hpp"

namespace backplane {

struct Paragraph {
  std::string text;
};
struct BulletList {
  std::vector<std::string> items;
};
struct FactList {
  std::vector<std::pair<std::string, std::string>> facts;  // label, value
};
struct CommandList {
  std::vector<std::pair<std::string, std::string>> commands;  // purpose, command
};
struct CodeBlock {
  std::string title, language, text;  // folded away in HTML
};
struct FigureUse {
  std::string name;  // name of one of the document's figures
};
struct FilmUse {
  std::string title;  // "4 x 2, episode 3"
  std::string file;   // an SVG that `render` has written, in the trial's folder
};
struct FindingList {
  Diagnosis diagnosis;
};
using Block = std::variant<Paragraph, BulletList, FactList, CommandList, CodeBlock, FigureUse, FilmUse, FindingList, Table>;

struct Section {
  std::string id, title;
  std::vector<Block> blocks;
  bool folded = false;  // folded under its title, on a page
};

// A file that accompanies the report: a recommended experiment.
struct Attachment {
  std::string name;  // "recommended_balanced.yaml"
  std::string text;
};

// Additional content of a page while its batch still runs.
struct LivePart {
  double every_s = 0;  // interval between updates
  std::string curves;  // JSON: {"trials": {ID: [name, place]}, "picks": [ID], "panels": {TITLE: {ID: [steps, values]}},
                       // "phases": {"names": [NAME], "trials": {ID: [steps, {INDEX OF NAME: [thousandths]}]}}}
};

struct Document {
  std::string kind, name, title;
  std::string made_at;  // the only difference between two reports on the same results
  std::vector<std::string>
      verdict;           // sentences, first the headline, which answers the question: also what `run` prints at its end
  bool is_void = false;  // the headline voids the times, so no advice may follow from them
  std::vector<Section> sections;
  std::vector<Figure> figures;
  std::string main_table;  // id of the table written to <name>_results.csv
  std::vector<Attachment> attachments;
  std::string sparkline;  // for the page that lists experiments
  std::optional<LivePart> live;
};

nlohmann::json ToJson(const Document& document);

// Tables always show n with a mean: below the table if a column has one n, else in brackets per number. For missing figures,
// the output contains the reason.
std::string RenderText(const Document& document,
                       const Drawings& drawings = {});  // at most 100 columns wide, except code and words within commands
std::string RenderMarkdown(const Document& document,
                           const Drawings& drawings = {});  // GitHub flavour; figures link to PNGs in the same folder
// One file with inline figures; its script makes the drawings interactive. `page`: the page's folder, where its links start,
// and their targets; empty: no links.
struct Page {
  std::filesystem::path folder;
  std::vector<std::pair<std::string, std::filesystem::path>> files;  // label, path
};
std::string RenderHtml(const Document& document, const Drawings& drawings = {}, const Page& page = {});
// Number columns: KEY, then KEY_low, KEY_high, KEY_sd, KEY_p95, KEY_max and KEY_n if known. Lines end with a line feed;
// non-finite numbers are NaN, unmeasured ones empty fields.
std::string RenderCsv(const Table& table);

}  // namespace backplane
