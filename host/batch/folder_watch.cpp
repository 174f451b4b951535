#include "batch/folder_watch.hpp"

#include <stdexcept>

#include "base/files.hpp"
#include "base/shell_argument.hpp"

namespace backplane {
namespace {

std::filesystem::path Made(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  return folder;
}

bool Exists(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The first unused name among NAME.1, NAME.2, ...
std::filesystem::path FreeNameNextTo(const std::filesystem::path& file) {
  for (unsigned number = 1;; ++number) {
    const std::filesystem::path name = file.string() + "." + std::to_string(number);
    if (!Exists(name)) return name;
  }
}

const char* WhatHappened(FileLoss loss) {
  switch (loss) {
    case FileLoss::kDeleted: return "was deleted or moved";
    case FileLoss::kReplaced: return "was replaced by a different file";
    case FileLoss::kCut: return "was cut";
    case FileLoss::kNone: break;
  }
  return "";
}

// "was deleted", "was moved", "was replaced by a different folder"
std::string WhatHappened(const HeldFolder& folder) {
  if (folder.Deleted()) {
    return "was deleted";
  }
  return Exists(folder.name()) ? "was replaced by a different folder" : "was moved";
}

}  // namespace

FolderWatch::FolderWatch(const std::filesystem::path& out, const OutLock& lock)
    : lock_(lock), out_(out), trials_(Made(ResultsFolder{out}.trials())) {
  out_.Require();
  trials_.Require();
}

void FolderWatch::Watch(const std::filesystem::path& record) { records_[record] = std::make_unique<HeldFile>(record); }

bool FolderWatch::InPlace() {
  if (what_.empty()) {
    what_ = WhatIsWrong();
  }
  return what_.empty();
}

bool FolderWatch::InPlace(const HeldFolder& trial) {
  if (InPlace() && !trial.InPlace()) {
    what_ = "the folder of a running trial, " + trial.name().string() + ", " + WhatHappened(trial);
  }
  return what_.empty();
}

std::string FolderWatch::WhatIsWrong() {
  std::string wrong = WhatIsWrongWithFolders();
  for (auto record = records_.begin(); wrong.empty() && record != records_.end(); ++record) {
    if (const FileLoss loss = record->second->Look(); loss != FileLoss::kNone)
      wrong = record->second->name().string() + " " + WhatHappened(loss);
  }
  return wrong;
}

std::string FolderWatch::WhatIsWrongWithFolders() const {
  if (!out_.InPlace()) {
    return "the results folder " + out_.name().string() + " " + WhatHappened(out_);
  }
  if (const std::filesystem::path lock = ResultsFolder{out_.name()}.lock(); !IsAt(lock_.fd(), lock)) {
    return "the lock of the results folder, " + lock.string() + ", was removed";
  }
  return trials_.InPlace() ? "" : "the folder of the trials, " + trials_.name().string() + ", " + WhatHappened(trials_);
}

std::string FolderWatch::Tell() {
  // A folder is deleted file by file. The first missing file may be only a part of the loss by now.
  if (WhatIsWrongWithFolders().empty()) {
    for (const auto& [name, record] : records_)
      if (record->Look() != FileLoss::kNone)
        return what_ + " while the batch ran; its trials are stopping" + DescribeRecord(record.get());
  }
  const std::string by_now = WhatIsWrong();
  const std::string text = (by_now.empty() ? what_ : by_now) + " while the batch ran; its trials are stopping";
  const std::filesystem::path where = out_.Where();
  if (where.empty()) {
    return text + (out_.Deleted() ? ". The results are gone; the same command starts from scratch"
                                  : ". Its new place cannot be seen from here");
  }
  const bool whole = Exists(ResultsFolder{where}.events()) && trials_.InPlace() && Exists(ResultsFolder{where}.plan());
  if (out_.InPlace()) {
    return text + (whole ? ". The results are in " : ". The rest of the results is in ") + where.string() +
           "; the same command resumes there";
  }
  return text + ". The results are in " + where.string() + "; the same command with --out " + ShellArgument(where.string()) +
         " resumes there";
}

std::string FolderWatch::DescribeRecord(HeldFile* record) {
  const std::filesystem::path& name = record->name();
  if (record->Look() == FileLoss::kCut)
    return ". The rest of the record is in " + name.string() + "; the same command resumes, and finds finished trials in " +
           trials_.name().string();
  const bool free = !Exists(name);
  const std::filesystem::path kept = free ? name : FreeNameNextTo(name);
  try {
    WriteFileAtomic(kept, record->Content());
  } catch (const std::exception& error) {
    return ". Its record cannot be saved: " + std::string(error.what());
  }
  if (free) return ". Its record was restored to " + name.string() + "; the same command resumes";
  return ". Its record is in " + kept.string() + ". To resume, rename it to " + name.filename().string() +
         " and repeat the command";
}

}  // namespace backplane
