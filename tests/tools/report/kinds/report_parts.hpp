// Requests a report in a test and finds its parts.
#pragma once

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "kinds/report_context.hpp"
#include "render/document.hpp"

namespace backplane::test_support {

inline ReportContext Context(const char* kind, nlohmann::json report = nlohmann::json::object()) {
  ReportContext context{"backplane", "2026-01-01 00:00 UTC", {}, {}, {}};
  context.report.kind = kind;
  if (report.contains("baseline")) context.report.baseline = report["baseline"];
  if (report.contains("columns")) context.report.columns = report["columns"];
  if (report.contains("figures")) context.report.figures = report["figures"];
  if (report.contains("select")) context.report.select = report["select"];
  if (report.contains("notes")) context.report.notes = report["notes"];
  return context;
}

inline const Table& TableOf(const Document& document, const std::string& id) {
  for (const Section& section : document.sections) {
    for (const Block& block : section.blocks) {
      const auto* table = std::get_if<Table>(&block);
      if (table && table->id == id) return *table;
    }
  }
  throw std::runtime_error("no table " + id);
}

inline Cell At(const Table& table, size_t row, const std::string& key) {
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].key == key) return table.rows.at(row).at(c);
  }
  throw std::runtime_error("no column " + key);
}
inline double NumberAt(const Table& table, size_t row, const std::string& key) {
  return std::get<Number>(At(table, row, key)).value;
}
inline std::string TextAt(const Table& table, size_t row, const std::string& key) {
  return std::get<std::string>(At(table, row, key));
}

inline const Figure& FigureOf(const Document& document, const std::string& name) {
  for (const Figure& figure : document.figures) {
    if (figure.name == name) return figure;
  }
  throw std::runtime_error("no figure " + name);
}
// The figure's rows of this kind in this panel.
inline std::vector<nlohmann::json> RowsOf(const Figure& figure, const std::string& panel, const std::string& kind) {
  std::vector<nlohmann::json> rows;
  for (const nlohmann::json& row : figure.rows) {
    if (row["panel"] == panel && row["kind"] == kind) rows.push_back(row);
  }
  return rows;
}
inline std::vector<std::string> PanelsOf(const Figure& figure) {
  std::vector<std::string> titles;
  for (const nlohmann::json& panel : figure.panels) titles.push_back(panel["title"]);
  return titles;
}
// The texts of a table that is drawn as a picture, cell by cell.
inline std::vector<std::string> TextsOf(const nlohmann::json& table) {
  std::vector<std::string> texts;
  for (const nlohmann::json& cell : table["layer"].back()["data"]["values"]) texts.push_back(cell["text"]);
  return texts;
}

inline std::string AttachmentOf(const Document& document, const std::string& name) {
  for (const Attachment& attachment : document.attachments) {
    if (attachment.name == name) return attachment.text;
  }
  return "none";
}

inline bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// All blocks of this kind in a section.
template <class Kind>
std::vector<Kind> BlocksOf(const Document& document, const std::string& section_id) {
  std::vector<Kind> blocks;
  for (const Section& section : document.sections) {
    for (const Block& block : section.blocks) {
      const auto* found = std::get_if<Kind>(&block);
      if (section.id == section_id && found) blocks.push_back(*found);
    }
  }
  return blocks;
}

}  // namespace backplane::test_support
