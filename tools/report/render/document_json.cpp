#include <cmath>

#include "render/document.hpp"

namespace backplane {
namespace {

using nlohmann::json;

// JSON has no NaN: writes null and sets `nonfinite`.
void PutNumber(json* object, const char* key, double value) {
  (*object)[key] = std::isfinite(value) ? json(value) : json(nullptr);
  if (!std::isfinite(value)) {
    (*object)["nonfinite"] = true;
  }
}

void PutIfFinite(json* object, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) {
    (*object)[key] = *value;
  }
}

json NumberJson(const Number& number) {
  json object = {{"n", number.n}};
  PutNumber(&object, "value", number.value);
  if (!number.of.empty()) {
    object["of"] = number.of;
  }
  PutIfFinite(&object, "sd", number.sd);
  PutIfFinite(&object, "low", number.low);
  PutIfFinite(&object, "high", number.high);
  PutIfFinite(&object, "max", number.max);
  PutIfFinite(&object, "p95", number.p95);
  return object;
}

json ColumnJson(const Column& column) {
  return {{"key", column.key},        {"title", column.title},         {"unit", column.unit},
          {"doc", column.doc},        {"direction", column.direction}, {"digits", column.digits},
          {"in_text", column.in_text}};
}

json RowJson(const std::vector<Cell>& row, const std::vector<Column>& columns) {
  json object = json::object();
  for (size_t i = 0; i < std::min(row.size(), columns.size()); ++i) {
    if (const Number* number = std::get_if<Number>(&row[i])) {
      object[columns[i].key] = NumberJson(*number);
    } else if (const std::string* text = std::get_if<std::string>(&row[i])) {
      object[columns[i].key] = *text;
    }
  }
  return object;
}

json EvidenceJson(const Evidence& evidence) {
  json object = {{"measure", evidence.measure}, {"unit", evidence.unit}, {"window", evidence.window}};
  PutNumber(&object, "value", evidence.value);
  PutIfFinite(&object, "threshold", evidence.threshold);
  return object;
}

json FindingJson(const Finding& finding) {
  json evidence = json::array(), fixes = json::array();
  for (const Evidence& one : finding.evidence) {
    evidence.push_back(EvidenceJson(one));
  }
  for (const Fix& fix : finding.fixes) fixes.push_back(ToJson(fix));
  return {{"id", finding.id},
          {"severity", SeverityName(finding.severity)},
          {"title", finding.title},
          {"settings", finding.settings},
          {"evidence", evidence},
          {"cause", finding.cause},
          {"fixes", fixes},
          {"effect", finding.effect},
          {"moves", finding.moves},
          {"direction", finding.direction},
          {"confidence", finding.confidence},
          {"out", finding.out},
          {"leads", finding.leads}};
}

json DiagnosisJson(const Diagnosis& diagnosis) {
  json findings = json::array(), silent = json::array();
  for (const Finding& finding : diagnosis.findings) {
    findings.push_back(FindingJson(finding));
  }
  for (const SilentRule& rule : diagnosis.silent) {
    silent.push_back({{"id", rule.id}, {"why", rule.why}});
  }
  return {{"findings", findings}, {"silent", silent}, {"why_void", diagnosis.why_void}, {"void_trials", diagnosis.void_trials}};
}

// Writes pairs as objects, so that readers need not know their order.
json PairsJson(const std::vector<std::pair<std::string, std::string>>& pairs, const char* first, const char* second) {
  json list = json::array();
  for (const auto& [one, other] : pairs) {
    list.push_back({{first, one}, {second, other}});
  }
  return list;
}

struct BlockJson {
  json operator()(const Paragraph& block) const { return {{"block", "paragraph"}, {"text", block.text}}; }
  json operator()(const BulletList& block) const { return {{"block", "list"}, {"items", block.items}}; }
  json operator()(const FactList& block) const {
    return {{"block", "facts"}, {"facts", PairsJson(block.facts, "label", "value")}};
  }
  json operator()(const CommandList& block) const {
    return {{"block", "commands"}, {"commands", PairsJson(block.commands, "what", "command")}};
  }
  json operator()(const CodeBlock& block) const {
    return {{"block", "code"}, {"title", block.title}, {"language", block.language}, {"text", block.text}};
  }
  json operator()(const FigureUse& block) const { return {{"block", "figure"}, {"name", block.name}}; }
  json operator()(const FilmUse& block) const { return {{"block", "film"}, {"title", block.title}, {"file", block.file}}; }
  json operator()(const FindingList& block) const {
    return {{"block", "findings"}, {"diagnosis", DiagnosisJson(block.diagnosis)}};
  }
  json operator()(const Table& block) const {
    json columns = json::array(), rows = json::array();
    for (const Column& column : block.columns) {
      columns.push_back(ColumnJson(column));
    }
    for (const std::vector<Cell>& row : block.rows) {
      rows.push_back(RowJson(row, block.columns));
    }
    return {{"block", "table"}, {"id", block.id},       {"title", block.title},           {"columns", columns},
            {"rows", rows},     {"notes", block.notes}, {"emphasised", block.emphasised}, {"key_columns", block.key_columns}};
  }
};

}  // namespace

json ToJson(const Document& document) {
  json sections = json::array(), figures = json::array(), attachments = json::array();
  for (const Section& section : document.sections) {
    json blocks = json::array();
    for (const Block& block : section.blocks) {
      blocks.push_back(std::visit(BlockJson{}, block));
    }
    sections.push_back({{"id", section.id}, {"title", section.title}, {"blocks", blocks}});
  }
  for (const Figure& figure : document.figures) {
    figures.push_back(ToJson(figure));
  }
  for (const Attachment& attachment : document.attachments) {
    attachments.push_back({{"name", attachment.name}, {"text", attachment.text}});
  }
  return {{"schema_version", kDocumentSchema},
          {"kind", document.kind},
          {"name", document.name},
          {"title", document.title},
          {"made_at", document.made_at},
          {"verdict", document.verdict},
          {"sections", sections},
          {"figures", figures},
          {"main_table", document.main_table},
          {"is_void", document.is_void},
          {"attachments", attachments}};
}

}  // namespace backplane
