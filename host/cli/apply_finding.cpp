#include "cli/apply_finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/shell_argument.hpp"
#include "base/suggest.hpp"
#include "log/log.hpp"
#include "text/change_arguments.hpp"

namespace backplane {
namespace {

// Where `run` and `report` leave the report of these results.
std::filesystem::path NumbersOf(const Experiment& experiment, const std::filesystem::path& out) {
  const std::filesystem::path folder = experiment.report_dir ? std::filesystem::path(*experiment.report_dir) : out / "report";
  const ReportConfig& report = experiment.report;
  const std::string ending = "_results.json";
  if (report.kind) return folder / (report.name.value_or(*report.kind) + ending);
  // Made by `report` on a file that asks for none: of whatever kind.
  std::filesystem::path newest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().ends_with(ending)) continue;
    if (newest.empty() || entry.last_write_time() > std::filesystem::last_write_time(newest)) newest = entry.path();
  }
  return newest.empty() ? folder / ("comparison" + ending) : newest;
}

// The proposals in NAME_results.json.
struct FoundProposals {
  std::vector<Proposal> findings;

  static constexpr void Fields(auto& self, auto&& visit) { visit("findings", self.findings); }
};
struct ReportBlock {
  std::optional<FoundProposals> diagnosis;  // of a block of findings

  static constexpr void Fields(auto& self, auto&& visit) { visit("diagnosis", self.diagnosis); }
};
struct ReportSectionBlocks {
  std::vector<ReportBlock> blocks;

  static constexpr void Fields(auto& self, auto&& visit) { visit("blocks", self.blocks); }
};
struct ReportNumbers {
  nlohmann::json schema_version;
  std::vector<ReportSectionBlocks> sections;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("schema_version", self.schema_version);
    if (self.schema_version != kDocumentSchema)
      throw RecordError(fmt::format("\"schema_version\": expected {1}, got {0}", self.schema_version.dump(), kDocumentSchema));
    visit("sections", self.sections);
  }
};

// Throws RecordError if the file is no report of this version.
std::vector<Proposal> ProposalsIn(const nlohmann::json& report) {
  for (const ReportSectionBlocks& section : RecordFromJson<ReportNumbers>(report).sections)
    for (const ReportBlock& block : section.blocks)
      if (block.diagnosis) return block.diagnosis->findings;
  return {};
}

Proposal ProposalIn(const std::filesystem::path& file, const std::string& id, const std::string& report_command) {
  const std::optional<std::string> text = ReadFile(file);
  if (!text)
    throw std::runtime_error(
        fmt::format("no report contains '{}', because {} is missing\nhint: run the experiment first, or "
                    "write the report of existing results: {}",
                    id, file.string(), report_command));
  const std::vector<Proposal> findings = ProposalsIn(nlohmann::json::parse(*text));
  std::vector<std::string> ids;
  for (const Proposal& finding : findings) {
    if (finding.id != id) {
      ids.push_back(finding.id);
    } else if (!finding.fixes.empty()) {
      return finding;
    }
  }
  const auto named = std::find_if(findings.begin(), findings.end(), [&](const Proposal& finding) { return finding.id == id; });
  if (named != findings.end())
    throw std::runtime_error(
        fmt::format("finding '{}' of {} does not propose a change to the file: {}", id, file.string(), named->cause));
  std::string known;
  for (const std::string& one : ids) known += (known.empty() ? "" : ", ") + one;
  throw std::runtime_error(fmt::format("{} has no finding '{}'{}; its findings: {}", file.string(), id,
                                       DidYouMean(Nearest(id, Candidates(ids))), known.empty() ? "none" : known));
}

}  // namespace

std::optional<RunArgs> WithFinding(const RunArgs& args, const Experiment& experiment, const std::filesystem::path& out) {
  try {
    const std::string report = args.typed_program + " report " + ShellArgument(out.string());
    const Proposal finding = ProposalIn(NumbersOf(experiment, out), args.apply, report);
    const Fix& fix = finding.fixes.front();
    const ChangeArguments change = ArgumentsOf(fix);
    RunArgs applied = args;
    applied.apply.clear();
    for (std::vector<std::string>* typed : {&applied.input.set, &applied.sweep})
      std::erase_if(*typed, [&](const std::string& one) { return GivesWay(fix, one); });
    applied.input.set.insert(applied.input.set.end(), change.set.begin(), change.set.end());
    applied.sweep.insert(applied.sweep.end(), change.sweep.begin(), change.sweep.end());
    if (!fix.swept) {
      applied.out = TryFolder(out);
      for (const std::string& set : SetsForAnotherFolder(ToJson(experiment)["output"], applied.out.string()))
        applied.input.set.push_back(set);
    }
    LogInfo("{}: {}\n  {}, in {}", finding.id, finding.title, ChangeText(fix),
            (applied.out.empty() ? out : applied.out).string());
    return applied;
  } catch (const std::exception& error) {
    LogError("backplane: --apply: {}\nnothing was started", WordsOf(error));
    return std::nullopt;
  }
}

}  // namespace backplane
