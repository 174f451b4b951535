#include "trial/checkpoint_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files.hpp"
#include "base/held_folder.hpp"

namespace backplane {
namespace {

// Never destroyed: a plugin's exit() may write a result after the destructors of this file have run.
const HeldFolder* g_trial = nullptr;
const HeldFolder* g_attempt = nullptr;

}  // namespace

void HoldFolders(const std::filesystem::path& attempt_dir, const std::filesystem::path& checkpoint_dir) {
  g_trial = new HeldFolder(checkpoint_dir.parent_path());
  g_attempt = new HeldFolder(attempt_dir);
}

std::filesystem::path WhereHeld(const std::filesystem::path& folder) {
  if (g_attempt != nullptr && folder == g_attempt->name()) return g_attempt->Now();
  if (g_trial != nullptr && folder.parent_path() == g_trial->name()) return g_trial->Now() / folder.filename();
  return folder;
}

namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& what, const fs::path& file) {
  throw std::runtime_error(what + " " + file.string() + ": " + std::strerror(errno));
}

// Returns false on a file system without hard links.
bool AddName(const fs::path& file, const fs::path& name) {
  const fs::path draft = name.string() + ".tmp";
  unlink(draft.c_str());  // left by a killed process
  if (link(file.c_str(), draft.c_str()) == 0) {
    if (rename(draft.c_str(), name.c_str()) != 0) Fail("cannot rename a file to", name);
    unlink(draft.c_str());  // rename keeps both if they are the same file
    return true;
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) Fail("cannot link", name);
  return false;
}

// For a moment, both names refer to the file. Without hard links, the file is missing under its first name until the new one
// gets it, and exists only under the other name.
void GiveSecondName(const fs::path& file, const fs::path& name) {
  if (!AddName(file, name) && rename(file.c_str(), name.c_str()) != 0) Fail("cannot rename a file to", name);
}

// A draft that a kill left may be a second name of best.bin, so it must not be overwritten.
void WriteDraft(const fs::path& draft, const Checkpoint& checkpoint) {
  unlink(draft.c_str());
  const std::string head = CheckpointHead(checkpoint);
  std::vector<std::string_view> pieces = {head};
  for (const auto& [name, bytes] : checkpoint.parts) pieces.push_back(AsText(bytes));
  WriteDurably(draft, pieces);
}

void WriteAs(const fs::path& file, const Checkpoint& checkpoint) {
  const fs::path draft = file.string() + ".tmp";
  WriteDraft(draft, checkpoint);
  if (rename(draft.c_str(), file.c_str()) != 0) Fail("cannot rename a file to", file);
}

}  // namespace

void RemoveLearnerFiles(const fs::path& dir) {
  std::error_code error;
  for (const fs::path& file : LearnerFilesIn(WhereHeld(dir))) fs::remove(file, error);
}

// True if checkpoint.bin need not be kept: it is between two numbered ones, or contains the same end of the trial.
bool CheckpointFolder::IsReplacedBy(const CheckpointHeader& next) const {
  const CheckpointHeader& last = newest_header_;
  return last.only_best || (last.at_end && next.at_end && last.iterations == next.iterations);
}

void CheckpointFolder::MoveUp(const fs::path& dir) {
  for (unsigned number = keep_ - 1; number > 1; --number) {
    const fs::path newer = CheckpointFile(dir, number - 1);
    if (IsCheckpointFile(newer)) fs::rename(newer, CheckpointFile(dir, number));
  }
  if (keep_ > 1 && IsCheckpointFile(CheckpointFile(dir, 0))) GiveSecondName(CheckpointFile(dir, 0), CheckpointFile(dir, 1));
}

bool CheckpointFolder::Save(const Checkpoint& checkpoint, bool is_best) {
  const fs::path dir = WhereHeld(dir_), newest = CheckpointFile(dir, 0), best = dir / kBestCheckpointFile;
  fs::create_directories(dir);
  const fs::path draft = newest.string() + ".tmp";
  const bool moves = !IsReplacedBy(checkpoint.header);
  WriteDraft(draft, checkpoint);
  try {
    if (is_best && !AddName(draft, best)) WriteAs(best, checkpoint);
    if (moves) MoveUp(dir);
    fs::rename(draft, newest);
  } catch (...) {
    unlink(draft.c_str());  // a draft must not keep a full disk full
    throw;
  }
  newest_header_ = checkpoint.header;
  // An earlier attempt may have kept more.
  for (unsigned number = keep_; fs::remove(CheckpointFile(dir, number)); ++number) continue;
  SyncFolder(dir);
  return moves;
}

void CheckpointFolder::SaveBest(const Checkpoint& checkpoint) {
  const fs::path dir = WhereHeld(dir_);
  WriteAs(dir / kBestCheckpointFile, checkpoint);
  SyncFolder(dir);
}

std::optional<Checkpoint> CheckpointFolder::ReadOrSetAside(const fs::path& file) {
  if (!IsCheckpointFile(file)) return std::nullopt;
  try {
    return ReadCheckpoint(file, trial_id_);
  } catch (const CheckpointError& e) {
    SetAside(file, e.what());
    return std::nullopt;
  }
}

std::optional<Checkpoint> CheckpointFolder::Newest() {
  const fs::path dir = WhereHeld(dir_), best_file = dir / kBestCheckpointFile;
  std::optional<Checkpoint> found;
  newest_header_ = {};
  for (unsigned number = 0; !found && (number < keep_ || IsCheckpointFile(CheckpointFile(dir, number))); ++number) {
    newest_ = CheckpointFile(dir, number);
    before_ = CheckpointFile(dir, number + 1);
    found = ReadOrSetAside(newest_);
    if (found && number == 0) newest_header_ = found->header;
  }
  std::error_code error;
  const bool same = found && fs::equivalent(newest_, best_file, error);
  std::optional<Checkpoint> best = same ? std::nullopt : ReadOrSetAside(best_file);
  best_ = same ? found->header.best : best ? best->header.best : std::nullopt;
  if (best && best->parts.contains(kLearnerPart) && !best->header.at_end &&
      (!found || best->header.iterations > found->header.iterations)) {
    found = std::move(best);
    before_ = newest_;
    newest_ = best_file;
  }
  const std::string then =
      found ? "it resumes from " + newest_.filename().string() + ", after iteration " + std::to_string(found->header.iterations)
            : "there is none before it, so the trial starts from scratch";
  for (const std::string& sentence : aside_) warnings_.push_back(sentence + "; " + then);
  aside_.clear();
  return found;
}

std::optional<Checkpoint> CheckpointFolder::BeforeNewest() const {
  if (!IsCheckpointFile(before_)) return std::nullopt;
  try {
    return ReadCheckpoint(before_, trial_id_);
  } catch (const CheckpointError&) {
    return std::nullopt;
  }
}

void CheckpointFolder::Refuse(const std::string& why) { SetAside(newest_, newest_.string() + ": " + why); }

void CheckpointFolder::SetAside(const fs::path& file, const std::string& why) {
  fs::path name = file.string() + ".damaged";
  for (unsigned number = 1; fs::exists(name); ++number) name = file.string() + ".damaged." + std::to_string(number);
  fs::rename(file, name);
  aside_.push_back("the trial's checkpoint cannot be used and was set aside as " + name.filename().string() + ": " + why);
}

}  // namespace backplane
