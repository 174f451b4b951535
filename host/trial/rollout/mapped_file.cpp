#include "rollout/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "rollout/failure.hpp"

namespace backplane {
namespace {

constexpr uint64_t kBlock = BP_FILE_BLOCK;

uint64_t RoundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

[[noreturn]] void Reject(const std::string& sentence) { throw TrialFailure(BP_E_INVALID_ARG, "", sentence); }

void CheckClaim(const std::string& name, const bp_file_claim& claim) {
  constexpr uint64_t kMost = uint64_t{1} << 46;  // the addresses of a process end at 2^47
  if (claim.max_bytes == 0 || claim.max_bytes > kMost)
    Reject(fmt::format("file '{}': max_bytes: expected 1 to {}, got {}", name, kMost, claim.max_bytes));
  if (claim.iteration_bytes > kMost)
    Reject(fmt::format("file '{}': iteration_bytes: expected at most {}, got {}", name, kMost, claim.iteration_bytes));
  const uint64_t least = 3 * claim.iteration_bytes + 2 * kBlock;
  if (claim.slack_bytes < least)
    Reject(fmt::format("file '{}': slack_bytes: expected at least 3 * iteration_bytes + 2 * BP_FILE_BLOCK = {}, got {}", name,
                       least, claim.slack_bytes));
}

}  // namespace

MappedFile::MappedFile(std::string name, std::filesystem::path path, const bp_file_claim& claim)
    : name_(std::move(name)),
      path_(std::move(path)),
      claim_((CheckClaim(name_, claim), claim)),
      reserved_(RoundUp(claim.max_bytes, PageBytes())),
      view_{sizeof view_, 0, this, nullptr, 0} {
  if (!path_.empty()) OpenDisk();
  void* const at = mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    const int error = errno;
    if (fd_ >= 0) close(fd_);
    throw TrialFailure(BP_E_OOM_HOST, "",
                       fmt::format("file '{}': cannot reserve {} addresses: {}", name_, reserved_, std::strerror(error)));
  }
  view_.data = static_cast<uint8_t*>(at);
}

MappedFile::~MappedFile() {
  munmap(view_.data, reserved_);
  if (fd_ >= 0) close(fd_);
}

void MappedFile::OpenDisk() {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  struct stat status {};
  if (fd_ < 0 || fstat(fd_, &status) != 0)
    throw DiskFailure(fmt::format("cannot open {}: {}", path_.string(), std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) {
    close(std::exchange(fd_, -1));
    throw DiskFailure(fmt::format("{}: expected a regular file, got something else", path_.string()));
  }
  flusher_ = std::make_unique<FileFlusher>(path_);
}

void MappedFile::FailDisk(const char* doing, uint64_t bytes, int error) const {
  throw DiskFailure(fmt::format("cannot {} {} to {} bytes: {}", doing, path_.string(), bytes, std::strerror(error)));
}

// Disk space for [from, bytes), so that no write to the mapping fails. `before`: the file's size.
void MappedFile::Allocate(uint64_t from, uint64_t bytes, uint64_t before) {
  int error = 0;
  do {
    error = posix_fallocate(fd_, static_cast<off_t>(from), static_cast<off_t>(bytes - from));
  } while (error == EINTR);
  if (error == 0) return;
  if (ftruncate(fd_, static_cast<off_t>(before)) != 0) error = errno;  // a failed attempt may have taken space
  FailDisk("grow", bytes, error);
}

// Makes the pages up to `bytes` accessible.
void MappedFile::Map(uint64_t bytes) {
  const uint64_t end = RoundUp(bytes, PageBytes());
  uint8_t* const at = view_.data + mapped_;
  const bool done = on_disk() ? mmap(at, end - mapped_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_,
                                     static_cast<off_t>(mapped_)) != MAP_FAILED
                              : mprotect(at, end - mapped_, PROT_READ | PROT_WRITE) == 0;
  if (!done)
    throw TrialFailure(BP_E_OOM_HOST, "",
                       fmt::format("file '{}': cannot map {} bytes: {}", name_, bytes, std::strerror(errno)));
  mapped_ = end;
}

void MappedFile::Grow(uint64_t bytes) {
  if (bytes <= view_.bytes) return;
  if (bytes > claim_.max_bytes)
    Reject(fmt::format("file '{}': grow: expected at most max_bytes = {}, got {}", name_, claim_.max_bytes, bytes));
  const uint64_t target = std::min(RoundUp(bytes, kBlock), claim_.max_bytes);
  blocks_.resize(RoundUp(target, kBlock) / kBlock);
  if (on_disk()) Allocate(view_.bytes, target, view_.bytes);
  if (target > mapped_) Map(target);
  view_.bytes = target;
}

void MappedFile::CheckRange(const char* call, uint64_t offset, uint64_t n) const {
  if (offset > view_.bytes || n > view_.bytes - offset)
    Reject(fmt::format("file '{}': {}: expected a range within its {} bytes, got {} bytes at {}", name_, call, view_.bytes, n,
                       offset));
}

void MappedFile::Need(uint64_t offset, uint64_t n) {
  CheckRange("need", offset, n);
  for (uint64_t number = offset / kBlock; n > 0; ++number) {
    const uint64_t from = offset % kBlock, here = std::min(n, kBlock - from);
    const Block& block = blocks_[number];
    if (from + here > block.covered)
      Reject(fmt::format("file '{}': need: expected bytes that were written, got {} bytes at {}, of which block {} has {}",
                         name_, here, offset, number, block.covered));
    if (block.pending) Compare(number);
    offset += here, n -= here;
  }
}

void MappedFile::Compare(uint64_t number) {
  Block& block = blocks_[number];
  const uint64_t from = number * kBlock;
  auto open = std::make_unique<Hash64>();
  open->Add(view_.data + from, block.covered);
  if (const uint64_t found = open->Value(); found != block.checksum)
    throw TrialFailure(
        BP_E_IO, "",
        fmt::format("{}: block {} (bytes {} to {}) is damaged: expected the checkpoint's checksum {:016x}, got {:016x}{}\n"
                    "hint: delete {}; the trial then restarts",
                    on_disk() ? path_.string() : name_, number, from, from + block.covered, block.checksum, found, loss_,
                    path_.parent_path().string()));
  block.pending = false;
  --pending_;
  if (block.covered < kBlock) block.open = std::move(open);
}

void MappedFile::Written(uint64_t offset, uint64_t n) {
  CheckRange("written", offset, n);
  if (counts_iterations_ && written_ + n - iteration_from_ > claim_.iteration_bytes)
    Reject(fmt::format("file '{}': written: expected at most iteration_bytes = {} per iteration, got {}", name_,
                       claim_.iteration_bytes, written_ + n - iteration_from_));
  for (uint64_t number = offset / kBlock; n > 0; ++number) {
    const uint64_t from = offset % kBlock, here = std::min(n, kBlock - from);
    Cover(number, from, here);
    offset += here, n -= here, written_ += here;
  }
}

void MappedFile::Cover(uint64_t number, uint64_t from, uint64_t n) {
  Block& block = blocks_[number];
  if (from != 0 && from != block.covered)
    Reject(fmt::format("file '{}': written: expected offset {} or {} within block {}, got {}", name_, 0, block.covered, number,
                       from));
  if (from != 0 && block.pending) Compare(number);  // it continues the checkpoint's bytes
  if (from == 0) {
    if (std::exchange(block.pending, false)) --pending_;
    block.open = n < kBlock ? std::make_unique<Hash64>() : nullptr;
    block.covered = 0;
  }
  const uint8_t* const at = view_.data + number * kBlock + from;
  if (block.open)
    block.open->Add(at, n);
  else
    block.checksum = Hash64Of(at, n);
  block.covered += n;
  if (block.covered < kBlock) return;
  if (block.open) block.checksum = block.open->Value(), block.open.reset();
  if (flusher_) flusher_->Flush();
}

SavedFile MappedFile::Save() const {
  SavedFile saved{name_, view_.bytes, written_, {}};
  for (const Block& block : blocks_) saved.blocks.push_back({block.open ? block.open->Value() : block.checksum, block.covered});
  return saved;
}

void MappedFile::Restore(const SavedFile& saved) {
  if (saved.bytes > claim_.max_bytes || saved.blocks.size() != RoundUp(saved.bytes, kBlock) / kBlock)
    throw TrialFailure(
        BP_E_INVALID_ARG, "",
        fmt::format("file '{}': expected at most {} bytes, got {} in the checkpoint", name_, claim_.max_bytes, saved.bytes));
  const uint64_t grown = std::exchange(view_.bytes, 0);  // during `create`
  if (!on_disk() && grown > 0) std::memset(view_.data, 0, grown);
  if (on_disk()) {
    struct stat status {};
    if (fstat(fd_, &status) != 0) FailDisk("read", saved.bytes, errno);
    const auto before = static_cast<uint64_t>(status.st_size);
    loss_ = before < saved.bytes ? fmt::format("; the file had {} of {} bytes", before, saved.bytes) : "";
    // Later bytes belong to an attempt that is repeated.
    if (before > saved.bytes && ftruncate(fd_, static_cast<off_t>(saved.bytes)) != 0) FailDisk("cut", saved.bytes, errno);
    if (saved.bytes > 0) Allocate(0, saved.bytes, std::min(before, saved.bytes));
  }
  if (saved.bytes > mapped_) Map(saved.bytes);
  view_.bytes = saved.bytes;
  blocks_.clear();
  pending_ = 0;
  for (const SavedFile::Block& block : saved.blocks) {
    blocks_.push_back({block.checksum, block.covered, block.covered > 0, nullptr});
    pending_ += block.covered > 0 ? 1 : 0;
  }
  written_ = iteration_from_ = saved.written;
  Grow(std::max(saved.bytes, grown));
}

void MappedFile::CopyFrom(const MappedFile& other) {
  Restore(other.Save());
  if (other.view_.bytes > 0) std::memcpy(view_.data, other.view_.data, other.view_.bytes);
}

void MappedFile::Sync() {
  if (on_disk() && fdatasync(fd_) != 0)
    throw DiskFailure(fmt::format("cannot sync {}: {}", path_.string(), std::strerror(errno)));
}

}  // namespace backplane
