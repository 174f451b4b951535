#include "rollout/learner_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "contract/checkpoint_files.hpp"
#include "rollout/failure.hpp"

namespace backplane {
namespace {

constexpr size_t kMostName = 32;

void CheckName(const std::string& name) {
  const bool fits = !name.empty() && name.size() <= kMostName && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!fits)
    throw TrialFailure(BP_E_INVALID_ARG, "",
                       fmt::format("open: expected a name of 1 to {} letters, digits and '_', got '{}'", kMostName, name));
}

void Put(uint64_t number, std::vector<std::byte>* out) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&number);
  out->insert(out->end(), bytes, bytes + sizeof number);
}

class PartReader {
 public:
  explicit PartReader(const std::vector<std::byte>& part) : part_(part) {}
  bool done() const { return at_ == part_.size(); }
  uint64_t Number() {
    uint64_t number = 0;
    Take(&number, sizeof number);
    return number;
  }
  std::string Text(uint64_t n) {
    std::string text(Fits(n, 1), '\0');
    Take(text.data(), n);
    return text;
  }
  // Throws unless `count` items of `bytes` each are left.
  uint64_t Fits(uint64_t count, uint64_t bytes) const {
    if (count > (part_.size() - at_) / bytes) throw TrialFailure(BP_E_IO, "", "the checkpoint's part \"files\" is cut off");
    return count;
  }

 private:
  void Take(void* out, uint64_t n) {
    Fits(n, 1);
    std::memcpy(out, part_.data() + at_, n);
    at_ += n;
  }

  const std::vector<std::byte>& part_;
  size_t at_ = 0;
};

std::vector<SavedFile> ReadPart(const std::vector<std::byte>& part) {
  std::vector<SavedFile> files;
  for (PartReader in(part); !in.done();) {
    SavedFile& file = files.emplace_back();
    file.name = in.Text(in.Number());
    CheckName(file.name);
    file.bytes = in.Number();
    file.written = in.Number();
    for (uint64_t left = in.Fits(in.Number(), 2 * sizeof(uint64_t)); left > 0; --left) {
      const uint64_t checksum = in.Number();
      file.blocks.push_back({checksum, in.Number()});
      if (file.blocks.back().covered > std::min<uint64_t>(BP_FILE_BLOCK, file.bytes - (file.blocks.size() - 1) * BP_FILE_BLOCK))
        throw TrialFailure(BP_E_IO, "", fmt::format("the checkpoint's part \"files\": a block of '{}' is too long", file.name));
    }
  }
  return files;
}

}  // namespace

const bp_host_file_1* LearnerFiles::Api() {
  static constexpr bp_host_file_1 kApi = {sizeof(bp_host_file_1), 0, Open, Grow, Need, Written};
  return &kApi;
}

template <class Function>
bp_status LearnerFiles::Guard(Function&& function) noexcept {
  try {
    try {
      function();
      return BP_OK;
    } catch (const DiskFailure& e) {
      return services_.FailService({BP_E_IO, e.what(), true});
    } catch (const TrialFailure& e) {
      return services_.FailService({e.status(), e.what()});
    }
  } catch (...) {
    return BP_E_OOM_HOST;
  }
}

bp_status LearnerFiles::Open(const bp_host* host, const char* name, const bp_file_claim* claim,
                             bp_file** borrow_file) noexcept {
  auto* self = static_cast<LearnerFiles*>(HostServices::FilesImpl(host));
  return self->Guard([&] {
    if (name == nullptr || claim == nullptr || borrow_file == nullptr || claim->struct_size < sizeof *claim)
      throw TrialFailure(BP_E_INVALID_ARG, "",
                         "open: expected a name, a claim and a place for the file, got NULL or a short claim");
    *borrow_file = self->OpenFile(name, *claim);
  });
}

bp_status LearnerFiles::Grow(bp_file* file, uint64_t bytes) noexcept {
  File* const self = Self(file);
  return self->owner.Guard([&] { self->Grow(bytes); });
}

bp_status LearnerFiles::Need(bp_file* file, uint64_t offset, uint64_t n) noexcept {
  File* const self = Self(file);
  if (self->IsChecked(offset, n)) return BP_OK;
  return self->owner.Guard([&] { self->MappedFile::Need(offset, n); });
}

bp_status LearnerFiles::Written(bp_file* file, uint64_t offset, uint64_t n) noexcept {
  File* const self = Self(file);
  return self->owner.Guard([&] { self->MappedFile::Written(offset, n); });
}

bp_file* LearnerFiles::OpenFile(const std::string& name, const bp_file_claim& claim) {
  CheckName(name);
  if (std::ranges::any_of(files_, [&](const File& file) { return file.name() == name; }))
    throw TrialFailure(BP_E_INVALID_ARG, "", fmt::format("open: file '{}' is open already", name));
  File& file = files_.emplace_back(this, name, folder_.empty() ? folder_ : folder_ / (name + kLearnerFileSuffix), claim);
  try {
    if (started_) RestoreFile(&file);
  } catch (...) {
    files_.pop_back();
    throw;
  }
  return file.view();
}

void LearnerFiles::RestoreFile(MappedFile* file) {
  const auto saved = saved_.find(file->name());
  if (saved == saved_.end()) return file->Restore({file->name(), 0, 0, {}});
  file->Restore(saved->second);
  saved_.erase(saved);
}

void LearnerFiles::Start(std::vector<SavedFile> saved) {
  saved_.clear();
  for (SavedFile& file : saved) saved_.insert_or_assign(file.name, std::move(file));
  started_ = true;
  older_ = newest_ = std::nullopt;
  for (File& file : files_) RestoreFile(&file);
}

void LearnerFiles::Restore(const std::vector<std::byte>& part) { Start(ReadPart(part)); }

std::vector<std::byte> LearnerFiles::Save() const {
  std::vector<std::byte> part;
  for (const File& file : files_) {
    const SavedFile saved = file.Save();
    Put(saved.name.size(), &part);
    const auto* name = reinterpret_cast<const std::byte*>(saved.name.data());
    part.insert(part.end(), name, name + saved.name.size());
    for (const uint64_t number : {saved.bytes, saved.written, uint64_t{saved.blocks.size()}}) Put(number, &part);
    for (const SavedFile::Block& block : saved.blocks) Put(block.checksum, &part), Put(block.covered, &part);
  }
  return part;
}

void LearnerFiles::Sync() {
  for (File& file : files_) file.Sync();
}

void LearnerFiles::CopyFrom(const LearnerFiles& other) {
  for (File& file : files_)
    for (const File& same : other.files_)
      if (same.name() == file.name()) file.CopyFrom(same);
}

void LearnerFiles::BeginIteration() {
  for (File& file : files_) file.BeginIteration();
}

LearnerFiles::Mark LearnerFiles::Now() const {
  Mark mark;
  for (const File& file : files_) mark.push_back(file.written());
  return mark;
}

LearnerFiles::Mark LearnerFiles::MarkOf(const std::vector<std::byte>& part) {
  Mark mark;
  for (const SavedFile& file : ReadPart(part)) mark.push_back(file.written);
  return mark;
}

bool LearnerFiles::NeedsCheckpoint() const {
  if (!older_) return false;
  size_t i = 0;
  for (const File& file : files_) {
    const uint64_t before = i < older_->size() ? (*older_)[i] : 0;
    ++i;
    if (file.written() - before + file.claim().iteration_bytes > file.claim().slack_bytes - 2 * BP_FILE_BLOCK) return true;
  }
  return false;
}

}  // namespace backplane
