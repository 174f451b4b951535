#include "cli/build_watch.hpp"

#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "plugin/metadata.hpp"
#include "plugin/plugin_error.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostNeighbours = 4096;  // a folder with more is none that a plugin's libraries lie in

// Links the plugin's neighbours, such as libraries by $ORIGIN, models and data, so that the copy finds them.
void LinkNeighbours(const fs::path& from, const fs::path& to) {
  size_t links = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(from, error)) {
    if (++links > kMostNeighbours) return;
    // Copied files exist already.
    fs::create_symlink(entry.path(), to / entry.path().filename(), error);
  }
}

void Copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (!fs::copy_file(from, to, fs::copy_options::overwrite_existing, error))
    throw PluginError(from.string() + ": cannot be copied: " + error.message());
}

}  // namespace

BuildWatch::BuildWatch(fs::path file, fs::path experiment, fs::path scratch)
    : file_(std::move(file)), experiment_(std::move(experiment)), scratch_(std::move(scratch)) {}

double BuildWatch::Now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

BuildWatch::Stamp BuildWatch::StampOf(const fs::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size),
          static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
}

std::optional<Build> BuildWatch::Look() {
  const Stamps now = StampsNow();
  if (now != seen_) {
    seen_ = now;
    changed_s_ = Now_s();
    looked_at_ = now.file == Stamp{};
    why_not_ = looked_at_ ? file_.string() + ": is not there" : "";
    return std::nullopt;
  }
  if (looked_at_ || Now_s() - changed_s_ < kQuiet_s) return std::nullopt;
  looked_at_ = true;
  Build build{builds_ + 1, scratch_ / ("build-" + std::to_string(builds_ + 1)), {}, changed_s_};
  fs::remove_all(build.folder);
  fs::create_directories(build.folder);
  try {
    build.plugins = CopyTo(build.folder);
  } catch (const PluginError& e) {
    why_not_ = e.what();
    // The sentence is about the file that the person knows.
    const std::string copy = (build.folder / file_.filename()).string();
    if (const size_t at = why_not_.find(copy); at != std::string::npos) why_not_.replace(at, copy.size(), file_.string());
    return std::nullopt;
  }
  if (StampsNow() != now) return std::nullopt;  // the next look sees it
  ++builds_;
  return build;
}

std::vector<PluginInfo> BuildWatch::CopyTo(const fs::path& folder) const {
  if (IsPython()) return {};
  const fs::path copy = folder / file_.filename();
  Copy(file_, copy);
  const std::vector<PluginInfo> plugins = ReadPlugins(copy);
  if (plugins.front().kind == BP_KIND_PART) throw PluginError(file_.string() + ": expected a plugin, got a part of a plugin");
  for (const PartInfo& part : plugins.front().parts) {
    Copy(file_.parent_path() / part.file, folder / part.file);
    if (Sha256OfFile(folder / part.file) != part.sha256)
      throw PluginError(file_.string() + ": was sealed with a different version of " + part.file);
  }
  LinkNeighbours(file_.parent_path(), folder);
  return plugins;
}

std::optional<std::string> BuildWatch::WhyNot() {
  if (!looked_at_ || why_not_.empty() || Now_s() - changed_s_ < kPatience_s) return std::nullopt;
  return std::exchange(why_not_, "");
}

}  // namespace backplane
