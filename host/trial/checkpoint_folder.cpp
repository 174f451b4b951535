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

// For a moment, both names refer to the file. A file system without hard links has no second name. There, the file is missing
// under its first name until the new one gets it, and exists only under the other name.
void GiveSecondName(const fs::path& file, const fs::path& name) {
  const fs::path draft = name.string() + ".tmp";
  unlink(draft.c_str());  // left by a killed process
  if (link(file.c_str(), draft.c_str()) == 0) {
    if (rename(draft.c_str(), name.c_str()) != 0) Fail("cannot rename a file to", name);
    unlink(draft.c_str());  // rename keeps both if they are the same file
    return;
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) Fail("cannot link", name);
  if (rename(file.c_str(), name.c_str()) != 0) Fail("cannot rename a file to", name);
}

}  // namespace

void CheckpointFolder::Save(const Checkpoint& checkpoint) {
  const fs::path dir = WhereHeld(dir_), newest = CheckpointFile(dir, 0);
  fs::create_directories(dir);
  const fs::path draft = newest.string() + ".tmp";
  const std::string head = CheckpointHead(checkpoint);
  std::vector<std::string_view> pieces = {head};
  for (const auto& [name, bytes] : checkpoint.parts) pieces.push_back(AsText(bytes));
  WriteDurably(draft, pieces);
  try {
    for (unsigned number = keep_ - 1; number > 1; --number) {
      const fs::path newer = CheckpointFile(dir, number - 1);
      if (IsCheckpointFile(newer)) fs::rename(newer, CheckpointFile(dir, number));
    }
    if (keep_ > 1 && IsCheckpointFile(newest)) GiveSecondName(newest, CheckpointFile(dir, 1));
    fs::rename(draft, newest);
  } catch (...) {
    unlink(draft.c_str());  // a draft must not keep a full disk full
    throw;
  }
  SyncFolder(dir);
}

std::optional<Checkpoint> CheckpointFolder::Newest() {
  const fs::path dir = WhereHeld(dir_);
  std::optional<Checkpoint> found;
  for (unsigned number = 0; number < keep_ && !found; ++number) {
    newest_ = CheckpointFile(dir, number);
    if (!IsCheckpointFile(newest_)) continue;
    try {
      found = ReadCheckpoint(newest_, trial_id_);
    } catch (const CheckpointError& e) {
      SetAside(newest_, e.what());
    }
  }
  const std::string then =
      found ? "it resumes from " + newest_.filename().string() + ", after iteration " + std::to_string(found->header.iterations)
            : "there is none before it, so the trial starts from scratch";
  for (const std::string& sentence : aside_) warnings_.push_back(sentence + "; " + then);
  aside_.clear();
  return found;
}

void CheckpointFolder::Refuse(const std::string& why) { SetAside(newest_, newest_.string() + ": " + why); }

void CheckpointFolder::SetAside(const fs::path& file, const std::string& why) {
  fs::path name = file.string() + ".damaged";
  for (unsigned number = 1; fs::exists(name); ++number) name = file.string() + ".damaged." + std::to_string(number);
  fs::rename(file, name);
  aside_.push_back("the trial's checkpoint cannot be used and was set aside as " + name.filename().string() + ": " + why);
}

}  // namespace backplane
