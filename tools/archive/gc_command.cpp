// gc: deletes checkpoints that finished trials no longer need.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "archive/commands.hpp"
#include "arguments/tool_commands.hpp"
#include "contract/checkpoint_files.hpp"
#include "log/log.hpp"
#include "record/batch_record.hpp"
#include "record/disk_use.hpp"
#include "record/kept_start.hpp"
#include "record/not_results.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct GcArgs {
  fs::path out;
  std::string keep;
  bool dry_run = false;
};

struct SpareFile {
  fs::path file;
  struct stat status;
};

void AddFiles(const fs::path& folder, const std::vector<fs::path>& kept, std::vector<SpareFile>* spare) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    struct stat status {};
    const bool keeps = std::ranges::find(kept, it->path()) != kept.end();
    if (keeps || lstat(it->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    spare->push_back({it->path(), status});
  }
}

// The bytes of files all of whose names are among these: a best checkpoint may be a second name of another one.
uint64_t BytesFreed(const std::vector<SpareFile>& spare) {
  constexpr uint64_t kBlock = 512;  // of st_blocks
  std::map<std::pair<dev_t, ino_t>, nlink_t> names;
  uint64_t bytes = 0;
  for (const SpareFile& one : spare)
    if (++names[{one.status.st_dev, one.status.st_ino}] == one.status.st_nlink)
      bytes += static_cast<uint64_t>(one.status.st_blocks) * kBlock;
  return bytes;
}

// A trial without a best checkpoint keeps its last one, with the files of its learner. Empty: it has neither.
std::vector<fs::path> KeptFiles(const fs::path& checkpoints, const std::string& keep) {
  const fs::path last = CheckpointFile(checkpoints, 0), best = checkpoints / kBestCheckpointFile;
  const bool has_best = keep.find(kBestCheckpoint) != keep.npos && IsCheckpointFile(best);
  const bool has_last = IsCheckpointFile(last) && (!has_best || keep.find(kLastCheckpoint) != keep.npos);
  std::vector<fs::path> kept = has_last ? LearnerFilesIn(checkpoints) : std::vector<fs::path>();
  if (has_best) kept.push_back(best);
  if (has_last) kept.push_back(last);
  return kept;
}

// Policies from which no trial of the plan starts.
void AddStarts(const ResultsFolder& folder, std::vector<SpareFile>* spare) {
  std::set<fs::path> needed;
  for (const PlanLine& line : ReadPlanFile(folder.plan()))
    if (const auto start = line.files.find(kStartKey); start != line.files.end()) needed.insert(folder.start(start->second));
  std::error_code error;
  for (fs::directory_iterator it(folder.starts(), error), end; !error && it != end; it.increment(error))
    if (!needed.contains(it->path())) AddFiles(it->path(), {}, spare);
}

// A trial that has not finished may still resume from any of its checkpoints.
std::vector<SpareFile> SpareFiles(const ResultsFolder& folder, const std::string& keep) {
  std::vector<SpareFile> spare;
  for (const auto& [id, trial] : ReadBatchRecord(folder.events()).trials) {
    if (!IsFinished(trial.state)) continue;
    const TrialFolder of_trial = folder.trial(id);
    const std::vector<fs::path> kept = KeptFiles(of_trial.checkpoint(), keep);
    if (!kept.empty()) AddFiles(of_trial.checkpoint(), kept, &spare);
    for (unsigned number = 1; number <= of_trial.LastAttempt(); ++number)
      AddFiles(of_trial.checkpoint_before(number), {}, &spare);
  }
  AddStarts(folder, &spare);
  return spare;
}

// Empty: deleted.
std::string Delete(const std::vector<SpareFile>& spare) {
  for (const SpareFile& one : spare) {
    std::error_code error;
    fs::remove(one.file, error);
    if (error) return one.file.string() + ": " + error.message();
    if (const fs::path folder = one.file.parent_path(); folder.filename() != TrialFolder{}.checkpoint())
      fs::remove(folder, error);
  }
  return "";
}

int Gc(const GcArgs& args) {
  const ResultsFolder folder{args.out};
  if (!fs::exists(folder.plan())) {
    LogError("backplane gc: {}", NotResults(args.out));
    return kUsage;
  }
  const int lock =
      open(folder.lock().c_str(), O_RDWR | O_CLOEXEC);  // an unpacked folder has none; held until this process ends
  if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0) {
    LogError("backplane gc: {}: expected a folder without a running experiment\nhint: backplane stop {}", args.out.string(),
             args.out.string());
    return kFailed;
  }
  const std::vector<SpareFile> spare = SpareFiles(folder, args.keep);
  const uint64_t bytes = BytesFreed(spare);
  if (args.dry_run) {
    for (const SpareFile& one : spare) fmt::print("{}\n", one.file.string());
  } else if (const std::string why = Delete(spare); !why.empty()) {
    LogError("backplane gc: cannot delete {}", why);
    return kFailed;
  }
  fmt::print("{}: {} {} in {} {} of finished trials; the folder uses {}\n", args.out.string(),
             args.dry_run ? "would free" : "freed", SizeText(bytes), spare.size(), spare.size() == 1 ? "file" : "files",
             SizeText(DiskUseOf(args.out).bytes));
  return kOk;
}

}  // namespace

Command GcCommand() {
  const auto declare = [](GcArgs* args, Arguments* add) {
    add->Out(&args->out);
    add->Add("--keep", "last|best|best,last", &args->keep,
             "Checkpoints of finished trials to keep; the last if there is no best")
        .Required();
    add->Check([args] { return UnlessOneOf("--keep", args->keep, {"last", "best", "best,last", "last,best"}); });
    add->Flag("--dry-run", &args->dry_run, "Print the files; delete nothing");
  };
  return MakeCommand<GcArgs>(kGcCommand.name, kGcCommand.help, declare, Gc);
}

}  // namespace backplane
