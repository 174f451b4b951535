#include "plugin/seal.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error_words.hpp"
#include "base/pipe.hpp"
#include "plugin/elf.hpp"
#include "plugin/loader.hpp"
#include "plugin/metadata.hpp"
#include "plugin/part.hpp"
#include "plugin/torch_folder.hpp"

namespace backplane {
namespace {

constexpr unsigned kTimeLimit_s = 120;  // loading LibTorch from a cold disk takes seconds

enum ChildExit : int { kSealed = 0, kRefused = 9 };

// Plugins name LibTorch without a path, so it must be in the process before them.
void PreloadWhatItNeeds(const ElfFile& elf, const std::filesystem::path& file) {
  const std::vector<std::string> needed = elf.Needed();
  const auto is_torch = [](const std::string& name) { return name.starts_with("libtorch") || name.starts_with("libc10"); };
  if (std::none_of(needed.begin(), needed.end(), is_torch)) return;
  const std::filesystem::path lib_dir = FindTorchLib();
  if (lib_dir.empty()) {
    throw PluginError(file.string() + ": needs LibTorch, which was not found; " + kSetUpTorch);
  }
  PreloadTorch(lib_dir);
}

void WriteSection(const std::filesystem::path& file, const ElfSection& section, std::string text) {
  text.resize(section.size, '\0');
  const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) throw PluginError(file.string() + ": cannot be written: " + std::strerror(errno));
  const ssize_t n = pwrite(fd, text.data(), text.size(), static_cast<off_t>(section.offset));
  const int error = n < 0 ? errno : EIO;
  if (close(fd) != 0 || n != static_cast<ssize_t>(text.size())) {
    throw PluginError(file.string() + ": cannot be written: " + std::strerror(error));
  }
}

[[noreturn]] void RunChild(const std::filesystem::path& file, const SealCheck& check,
                           const std::vector<std::filesystem::path>& parts, int pipe_end) {
  alarm(kTimeLimit_s);
  try {
    SealInThisProcess(file, check, parts);
  } catch (const std::exception& e) {
    WriteWhole(pipe_end, WordsOf(e));
    _exit(kRefused);
  }
  _exit(kSealed);  // no static destructors of a library that was loaded on top of the parent's image
}

// Throws unless the child sealed the file.
void CheckChild(const std::filesystem::path& file, int wait_status, const std::string& sentence) {
  const std::string when = " during sealing";
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    if (signal == SIGALRM) {
      throw PluginError(file.string() + ": did not end within " + std::to_string(kTimeLimit_s) + " s" + when);
    }
    throw PluginError(file.string() + ": crashed (" + strsignal(signal) + ")" + when);
  }
  if (WEXITSTATUS(wait_status) == kSealed && sentence.empty()) return;
  if (WEXITSTATUS(wait_status) == kRefused && !sentence.empty()) throw PluginError(sentence);
  throw PluginError(file.string() + ": ended the process with exit code " + std::to_string(WEXITSTATUS(wait_status)) + when);
}

}  // namespace

void SealInThisProcess(const std::filesystem::path& file, const SealCheck& check,
                       const std::vector<std::filesystem::path>& parts) {
  const std::filesystem::path absolute = std::filesystem::absolute(file).lexically_normal();
  const ElfFile elf(absolute);
  const ElfSection* section = elf.Find(BP_META_SECTION);
  if (!section || section->size != BP_META_BYTES) {
    throw PluginError(absolute.string() + ": expected a section " BP_META_SECTION " of " + std::to_string(BP_META_BYTES) +
                      " bytes, got " + (section ? std::to_string(section->size) + " bytes" : "none"));
  }
  elf.Read(*section);  // throws if the section is outside the file, before anything is written
  std::vector<PartInfo> described;
  for (const std::filesystem::path& part : parts) described.push_back(DescribePart(absolute, part));
  PreloadWhatItNeeds(elf, absolute);
  std::string text;
  try {
    text = MetadataOf(OpenModule(absolute), described);
    if (check)
      for (const PluginInfo& plugin : ParseMetadata(text, absolute)) check(plugin);
  } catch (const PluginError& e) {
    const std::string what = e.what();
    throw PluginError(what.starts_with(absolute.string()) ? what : absolute.string() + ": " + what);
  }
  if (text.size() >= BP_META_BYTES) {
    throw PluginError(absolute.string() + ": its description is too long: expected at most " +
                      std::to_string(BP_META_BYTES - 1) + " bytes, got " + std::to_string(text.size()));
  }
  WriteSection(absolute, *section, text);
}

void Seal(const std::filesystem::path& file, const SealCheck& check, const std::vector<std::filesystem::path>& parts) {
  Pipe pipe(Pipe::Read::kWaits);
  const pid_t child = fork();
  if (child == 0) {
    pipe.CloseReader();
    RunChild(file, check, parts, pipe.writer());
  }
  if (child < 0) throw PluginError(file.string() + ": cannot be sealed: " + std::strerror(errno));
  pipe.CloseWriter();
  std::string sentence;
  pipe.TakeInto(&sentence);
  int wait_status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &wait_status, 0)) < 0 && errno == EINTR) {
  }
  if (ended < 0) throw PluginError(file.string() + ": the outcome of sealing is unknown: " + std::strerror(errno));
  CheckChild(file, wait_status, sentence);
}

}  // namespace backplane
