#include "live/folder_index.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "record/results_folder.hpp"
#include "render/document.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr char kKind[] = "experiments";

// The content of a page's meta element. Absent if the page lacks it.
std::optional<std::string> MetaOf(const std::string& head, const std::string& name) {
  const std::string begin = "<meta name=\"backplane-" + name + "\" content=\"";
  const size_t at = head.find(begin);
  if (at == std::string::npos) return std::nullopt;
  std::string text = head.substr(at + begin.size(), head.find('"', at + begin.size()) - at - begin.size());
  for (const auto& [entity, character] :
       {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
    const std::string from = entity;
    for (size_t found = 0; (found = text.find(from, found)) != std::string::npos; ++found)
      text.replace(found, from.size(), character);
  }
  return text;
}

// The first one; empty if there is none.
std::string HeadOf(const fs::path& page) {
  constexpr size_t kHead = 16 << 10;
  std::ifstream stream = OpenStream(page);
  std::string head(kHead, '\0');
  stream.read(head.data(), kHead);
  head.resize(static_cast<size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return head;
}

// The date as this program writes it; for folders without a page, their last modification.
std::string DateOf(const fs::path& out, const std::string& head) {
  struct stat info {};
  std::string date = MetaOf(head, "date").value_or("");
  if (!date.empty() || stat(ResultsFolder{out}.events().c_str(), &info) != 0) return date;
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(info.st_mtime));
}

bool IsAPlaceFor(const fs::path& folder) {
  std::error_code error;
  for (const fs::path& other : {fs::current_path(), fs::temp_directory_path(error), folder.root_path()})
    if (fs::equivalent(folder, other, error)) return false;
  return !fs::exists(folder / kPageName, error) || MetaOf(HeadOf(folder / kPageName), "kind") == kKind;
}

Document ListOf(const fs::path& folder) {
  Table table{"experiments", "", {}, {}, {}, {}};
  table.columns = {{"experiment", "experiment", "", "", 0, 4, true, folder.string()},
                   {"date", "last written", "", ""},
                   {"curve", "return", "", "of the trial with the highest return, from its start to its end"},
                   {"verdict", "verdict", "", ""}};
  std::vector<std::vector<std::string>> rows;
  std::error_code error;  // skip unreadable entries, such as another user's folder
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!fs::exists(ResultsFolder{entry.path()}.plan(), error)) continue;
    const std::string head = HeadOf(entry.path() / kPageName);
    rows.push_back({entry.path().filename().string(), DateOf(entry.path(), head), MetaOf(head, "sparkline").value_or(""),
                    MetaOf(head, "verdict").value_or("")});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a[1] != b[1] ? a[1] > b[1] : a[0] < b[0]; });
  for (std::vector<std::string>& row : rows) table.rows.emplace_back(row.begin(), row.end());
  Document document;
  document.kind = kKind;
  document.title = fmt::format("Experiments in {}", folder.filename().string());
  document.sections = {{"experiments", "Experiments", {std::move(table)}}};
  return document;
}

}  // namespace

void WriteFolderIndex(const fs::path& out) {
  const fs::path whole = fs::absolute(out / "").lexically_normal().parent_path(), folder = whole.parent_path();
  if (!IsAPlaceFor(folder)) return;
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  constexpr int kTries = 200;
  for (int i = 0; i < kTries && flock(fd, LOCK_EX | LOCK_NB) != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  try {
    ReplaceFile(folder / kPageName, RenderHtml(ListOf(folder), {}, {folder, {}}));
  } catch (const std::exception&) {  // the list is optional: its failure must not fail a page or report
  }
  close(fd);
}

}  // namespace backplane
