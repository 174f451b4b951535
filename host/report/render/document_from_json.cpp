#include <algorithm>
#include <map>

#include "render/document.hpp"
#include "render/placed_json.hpp"

namespace backplane {
namespace {

std::optional<double> RealIfThere(const PlacedJson& json, const std::string& key) {
  return json.Has(key) ? std::optional(json.Real(key)) : std::nullopt;
}

Number ReadNumber(const PlacedJson& json) {
  Number number;
  number.value = json.Real("value");
  number.n = static_cast<uint64_t>(json.Whole("n"));
  number.of = json.Has("of") ? json.Text("of") : "";
  number.sd = RealIfThere(json, "sd");
  number.low = RealIfThere(json, "low");
  number.high = RealIfThere(json, "high");
  number.max = RealIfThere(json, "max");
  number.p95 = RealIfThere(json, "p95");
  return number;
}

Column ReadColumn(const PlacedJson& json) {
  return {json.Text("key"),
          json.Text("title"),
          json.Text("unit"),
          json.Text("doc"),
          static_cast<int>(json.Whole("direction")),
          static_cast<int>(json.Whole("digits")),
          json.Flag("in_text")};
}

Cell ReadCell(const PlacedJson& row, const std::string& key) {
  if (!row.Has(key)) {
    return std::monostate{};
  }
  return row.At(key).is_string() ? Cell(row.Text(key)) : Cell(ReadNumber(row.Object(key)));
}

// Indices of rows of a table with that many.
std::vector<size_t> ReadRows(const PlacedJson& json, const std::string& key, size_t count) {
  std::vector<size_t> rows;
  for (const nlohmann::json& one : json.At(key)) {
    if (!one.is_number_unsigned() || one.get<size_t>() >= count) {
      json.Fail(key, "indices of the table's rows");
    }
    rows.push_back(one.get<size_t>());
  }
  return rows;
}

Block ReadTable(const PlacedJson& json) {
  Table table{json.Text("id"), json.Text("title"), {}, {}, {}, json.Texts("notes")};
  for (const PlacedJson& column : json.Objects("columns")) {
    table.columns.push_back(ReadColumn(column));
  }
  for (const PlacedJson& row : json.Objects("rows")) {
    std::vector<Cell> cells;
    for (const Column& column : table.columns) {
      cells.push_back(ReadCell(row, column.key));
    }
    table.rows.push_back(std::move(cells));
  }
  table.emphasised = ReadRows(json, "emphasised", table.rows.size());
  if (json.Has("key_columns")) table.key_columns = static_cast<size_t>(json.Whole("key_columns"));
  return table;
}

Severity ReadSeverity(const PlacedJson& json) {
  for (const Severity severity : {Severity::kInfo, Severity::kWarning, Severity::kSerious}) {
    if (json.Text("severity") == SeverityName(severity)) {
      return severity;
    }
  }
  json.Fail("severity", "info, warning or serious");
}

Finding ReadFinding(const PlacedJson& json) {
  Finding finding;
  finding.id = json.Text("id");
  finding.severity = ReadSeverity(json);
  finding.title = json.Text("title");
  finding.settings = json.Texts("settings");
  for (const PlacedJson& one : json.Objects("evidence")) {
    finding.evidence.push_back(
        {one.Text("measure"), one.Real("value"), RealIfThere(one, "threshold"), one.Text("unit"), one.Text("window")});
  }
  finding.cause = json.Text("cause");
  for (const PlacedJson& one : json.Objects("fixes")) {
    Fix& fix = finding.fixes.emplace_back(
        Fix{one.Text("path"), one.At("from"), one.At("to"), one.Flag("swept"), one.Has("point") ? one.Text("point") : ""});
    if (one.Has("command")) fix.command = one.Text("command");
    if (!one.Has("also")) continue;
    for (const auto& [path, value] : one.At("also").items()) fix.also.emplace_back(path, value);
  }
  finding.effect = json.Text("effect");
  finding.moves = json.Text("moves");
  finding.direction = static_cast<int>(json.Whole("direction"));
  finding.confidence = json.Text("confidence");
  finding.out = json.Has("out") ? json.Text("out") : "";
  finding.leads = !json.Has("leads") || json.Flag("leads");
  return finding;
}

Block ReadFindings(const PlacedJson& json) {
  FindingList block;
  const PlacedJson diagnosis = json.Object("diagnosis");
  for (const PlacedJson& one : diagnosis.Objects("findings")) {
    block.diagnosis.findings.push_back(ReadFinding(one));
  }
  for (const PlacedJson& one : diagnosis.Objects("silent")) {
    block.diagnosis.silent.push_back({one.Text("id"), one.Text("why")});
  }
  if (diagnosis.Has("why_void")) block.diagnosis.why_void = diagnosis.Text("why_void");
  if (diagnosis.Has("void_trials")) {
    for (std::string& trial : diagnosis.Texts("void_trials")) block.diagnosis.void_trials.insert(std::move(trial));
  }
  return block;
}

std::vector<std::pair<std::string, std::string>> ReadPairs(const PlacedJson& json, const std::string& key, const char* first,
                                                           const char* second) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const PlacedJson& one : json.Objects(key)) {
    pairs.emplace_back(one.Text(first), one.Text(second));
  }
  return pairs;
}

Block ReadBlock(const PlacedJson& json) {
  static const std::map<std::string, Block (*)(const PlacedJson&)> kReaders = {
      {"paragraph", [](const PlacedJson& b) { return Block(Paragraph{b.Text("text")}); }},
      {"list", [](const PlacedJson& b) { return Block(BulletList{b.Texts("items")}); }},
      {"facts", [](const PlacedJson& b) { return Block(FactList{ReadPairs(b, "facts", "label", "value")}); }},
      {"commands", [](const PlacedJson& b) { return Block(CommandList{ReadPairs(b, "commands", "what", "command")}); }},
      {"code",
       [](const PlacedJson& b) {
         return Block(CodeBlock{b.Text("title"), b.Text("language"), b.Text("text")});
       }},
      {"figure", [](const PlacedJson& b) { return Block(FigureUse{b.Text("name")}); }},
      {"findings", ReadFindings},
      {"table", ReadTable},
  };
  const auto reader = kReaders.find(json.Text("block"));
  if (reader == kReaders.end()) {
    json.Fail("block", "paragraph, list, facts, commands, code, figure, findings or table");
  }
  return reader->second(json);
}

Section ReadSection(const PlacedJson& json) {
  Section section{json.Text("id"), json.Text("title"), {}};
  for (const PlacedJson& block : json.Objects("blocks")) {
    section.blocks.push_back(ReadBlock(block));
  }
  return section;
}

}  // namespace

Document DocumentFromJson(const nlohmann::json& text) {
  const PlacedJson json(text, "");
  if (json.At("schema_version") != kDocumentSchema) {
    json.Fail("schema_version", std::to_string(kDocumentSchema));
  }
  Document document;
  document.kind = json.Text("kind");
  document.name = json.Text("name");
  document.title = json.Text("title");
  document.made_at = json.Text("made_at");
  document.verdict = json.Texts("verdict");
  for (const PlacedJson& section : json.Objects("sections")) {
    document.sections.push_back(ReadSection(section));
  }
  for (const nlohmann::json& figure : json.At("figures")) {
    document.figures.push_back(FigureFromJson(figure));
  }
  document.main_table = json.Text("main_table");
  for (const PlacedJson& one : json.Objects("attachments")) {
    document.attachments.push_back({one.Text("name"), one.Text("text")});
  }
  return document;
}

}  // namespace backplane
