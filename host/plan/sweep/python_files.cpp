#include "sweep/python_files.hpp"

#include <array>
#include <set>
#include <vector>

#include "base/files.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// Files of any kind and folders that are looked at: a script may stand in a folder of data.
constexpr size_t kMaxEntries = 500000;

bool IsLeftOut(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (name.starts_with('.') || name == "__pycache__" || name == "node_modules") return true;
  std::error_code error;
  const ResultsFolder results{folder};
  const bool has_results = fs::exists(results.plan(), error) && fs::exists(results.events(), error);
  return has_results || fs::exists(TrialFolder{folder}.trial_json(), error) || fs::exists(folder / "pyvenv.cfg", error);
}

}  // namespace

bool IsPython(const fs::path& file) {
  if (file.extension() == ".py") return true;
  std::ifstream stream = OpenStream(file);
  std::array<char, 128> begin{};
  stream.read(begin.data(), begin.size());
  const std::string_view text(begin.data(), static_cast<size_t>(stream.gcount()));
  return text.starts_with("#!") && text.substr(0, text.find('\n')).find("python") != text.npos;
}

std::optional<std::map<std::string, fs::path>> PythonFilesBelow(const fs::path& folder) {
  std::map<std::string, fs::path> files;
  std::vector<fs::path> unread = {folder};
  std::set<fs::path> read;  // a link may lead back
  uint64_t bytes = 0;
  size_t entries = 0;
  while (!unread.empty()) {
    const fs::path next = unread.back();
    unread.pop_back();
    std::error_code error;
    const fs::path canonical = fs::canonical(next, error);
    if (error || !read.insert(canonical).second) continue;
    for (fs::directory_iterator entry(next, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code gone;  // since it was listed, or not readable: then Python cannot import it either
      if (++entries > kMaxEntries) return std::nullopt;
      if (entry->is_directory(gone)) {
        if (!IsLeftOut(entry->path())) unread.push_back(entry->path());
      } else if (entry->path().extension() == ".py" && entry->is_regular_file(gone)) {
        const uint64_t size = entry->file_size(gone);
        bytes += gone ? 0 : size;
        files.emplace(entry->path().lexically_relative(folder).generic_string(), entry->path());
        if (files.size() > kMaxPythonFiles || bytes > kMaxPythonBytes) return std::nullopt;
      }
    }
  }
  return files;
}

}  // namespace backplane
