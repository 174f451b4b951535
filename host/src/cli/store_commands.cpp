// store rebuild and export: the results in other forms.
#include <cstdio>

#include "base/files.hpp"
#include "cli/commands.hpp"
#include "store/csv.hpp"
#include "store/database.hpp"
#include "store/results_folder.hpp"
#include "supervise/layout.hpp"

namespace backplane {
namespace {

// Says so if it is none.
bool IsResultsFolder(const std::filesystem::path& out) {
  if (std::filesystem::exists(ResultsFolder{out}.plan())) {
    return true;
  }
  std::fprintf(stderr, "backplane: %s is no results folder: it has no plan.jsonl\n", out.c_str());
  return false;
}

}  // namespace

int StoreRebuildCommand(const BatchArgs& args) {
  if (!IsResultsFolder(args.out)) {
    return kUsage;
  }
  const OutLock lock(
      args.out, [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }, LockFor::kUpkeep);
  const ResultsFolder folder{args.out};
  const BatchRecord record = ReadBatchRecord(folder.events());
  RebuildDatabase(args.out, ReadPlanFile(folder.plan()), record);
  std::printf("%s: made from %llu events\n", folder.database().c_str(), static_cast<unsigned long long>(record.last_seq));
  return kOk;
}

int ExportCommand(const ExportArgs& args) {
  if (args.format != "csv") {
    std::fprintf(stderr, "backplane: export %s is not served yet; `backplane export csv` is, and %s holds all numbers\n",
                 args.format.c_str(), ResultsFolder{args.out}.database().c_str());
    return kUsage;
  }
  if (!IsResultsFolder(args.out)) {
    return kUsage;
  }
  const ResultsFolder folder{args.out};
  const std::string text = FormatCsv(folder, ReadPlanFile(folder.plan()), ReadBatchRecord(folder.events()));
  if (args.to.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else {
    WriteFileAtomic(args.to, text);
  }
  return kOk;
}

}  // namespace backplane
