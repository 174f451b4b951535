#include "render/write_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/file_name.hpp"
#include "base/files.hpp"
#include "base/json_text.hpp"
#include "render/report_manifest.hpp"
#include "text/utf8.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// A part of a file name; it may come from the experiment file.
void CheckName(const std::string& what, const std::string& name) {
  if (!IsFileName(name)) {
    throw std::runtime_error(
        fmt::format("report: name of {}: expected a file name without folders, got '{}'", what, OneLine(name)));
  }
}

void CheckNames(const Document& document) {
  CheckName("the report", document.name);
  for (const Figure& figure : document.figures) {
    CheckName("a figure", figure.name);
  }
  for (const Attachment& attachment : document.attachments) {
    CheckName("a file of the report", attachment.name);
  }
}

class Writer {
 public:
  explicit Writer(fs::path folder) : folder_(std::move(folder)) {}

  void Write(const std::string& name, const std::string& text) {
    WriteFileAtomic(folder_ / name, text);
    files.emplace_back(name);
  }
  // For files that another program writes.
  void AddIfThere(const fs::path& file) {
    if (fs::exists(folder_ / file)) {
      files.push_back(file);
    }
  }

  std::vector<fs::path> files;  // relative to the folder

 private:
  fs::path folder_;
};

// One note for all figures if none was drawn.
std::vector<std::string> Notes(const Drawings& drawings) {
  std::vector<std::string> notes;
  for (const auto& [figure, why] : drawings.missing) notes.push_back(why);
  if (drawings.svg.empty() && notes.size() > 1) {
    const std::string& first = notes.front();
    notes = {fmt::format("no figures: {}", first.substr(std::min(first.find(": "), first.size() - 2) + 2))};
  }
  return notes;
}

}  // namespace

const Table& MainTable(const Document& document) {
  for (const Section& section : document.sections) {
    for (const Block& block : section.blocks) {
      const Table* table = std::get_if<Table>(&block);
      if (table != nullptr && table->id == document.main_table) {
        return *table;
      }
    }
  }
  throw std::runtime_error(fmt::format("report: no section holds the main table '{}'", document.main_table));
}

WrittenReport WriteReport(const Document& document, const fs::path& folder,
                          const std::vector<std::pair<std::string, fs::path>>& results) {
  CheckNames(document);
  const Table& table = MainTable(document);
  fs::create_directories(folder);

  WrittenReport report;
  Writer writer(folder);
  // Draw first: the text must not mention missing pictures.
  Drawings drawings = DrawFigures(document.figures, folder);
  report.notes = Notes(drawings);
  writer.files.emplace_back(document.name + "_report.html");  // written last, because it links to the others
  writer.Write(document.name + "_report.txt", RenderText(document, drawings));
  writer.Write(document.name + "_report.md", RenderMarkdown(document, drawings));
  std::vector<fs::path> sources;
  for (const Figure& figure : document.figures) {
    writer.AddIfThere(figure.name + ".png");
    for (const char* form : {".vl.json", ".svg"}) sources.push_back(fs::path("figures") / (figure.name + form));
  }
  for (const Attachment& attachment : document.attachments) {
    writer.Write(attachment.name, attachment.text);
  }
  writer.Write(document.name + "_results.csv", RenderCsv(table));
  writer.Write(document.name + "_results.json", JsonText(ToJson(document), 1) + "\n");
  std::for_each(sources.begin(), sources.end(), [&](const fs::path& source) { writer.AddIfThere(source); });

  Page page{folder, {}};
  for (const fs::path& file : writer.files) page.files.emplace_back("", folder / file);
  page.files.insert(page.files.end(), results.begin(), results.end());
  WriteFileAtomic(folder / writer.files.front(), RenderHtml(document, drawings, page));

  const ReportManifest manifest(folder, document.name);
  manifest.RemoveOthers(writer.files);
  manifest.Write(writer.files);
  for (const fs::path& file : writer.files) {
    report.files.push_back(folder / file);
  }
  report.drawings = std::move(drawings);
  return report;
}

}  // namespace backplane
