#include "sweep/xml_files.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "sweep/xml_tags.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxBytes = 64 << 20;  // of a file that is searched for names
constexpr std::string_view kPackage = "package://";

bool Exists(const fs::path& file) {
  std::error_code error;  // a name that is too long is none
  return fs::exists(file, error) && !fs::is_directory(file, error);
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return c < 0x80 ? std::tolower(c) : c; });
  return text;
}

class XmlFiles {
 public:
  explicit XmlFiles(const fs::path& file) : root_file_(file.lexically_normal()), root_(root_file_.parent_path()) {}

  std::map<std::string, fs::path> Find() {
    models_.push_back(root_file_);
    while (!models_.empty() && !Full()) {
      const fs::path model = models_.back();
      models_.pop_back();
      if (seen_models_.insert(model).second) ReadModel(model);
    }
    found_.erase(root_file_.lexically_relative(root_).generic_string());
    return std::move(found_);
  }

 private:
  // The places where a named file may be. An absolute name does not depend on the place of the model.
  struct Candidate {
    fs::path file;
    bool is_absolute = false;
  };

  // The names in one model; its file and the included files share their folders.
  struct Model {
    fs::path folder;
    std::vector<fs::path> folders = {""};  // of meshes and such
    bool strips_paths = false;
    std::vector<std::pair<fs::path, std::string>> names;  // each with the folder of the file that contains it
    std::vector<std::pair<fs::path, std::string>> models;
  };

  bool Full() const { return found_.size() > kMaxXmlFiles; }

  void ReadModel(const fs::path& file) {
    Model model;
    model.folder = file.parent_path();
    std::vector<fs::path> unread = {file};
    std::set<fs::path> read;
    while (!unread.empty() && !Full()) {
      const fs::path next = unread.back();
      unread.pop_back();
      if (!read.insert(next).second) continue;
      const FileText text = ReadRegularFile(next, kMaxBytes);
      if (!text.text) continue;
      for (const XmlTag& tag : XmlTags(*text.text)) ReadTag(tag, next.parent_path(), &model, &unread);
    }
    for (const auto& [folder, name] : model.names) {
      for (const Candidate& each : Candidates(model, folder, name)) Add(each);
    }
    for (const auto& [folder, name] : model.models) {
      for (const Candidate& each : Candidates(model, folder, name)) {
        if (Add(each)) models_.push_back(each.file);
      }
    }
  }

  void ReadTag(const XmlTag& tag, const fs::path& folder, Model* model, std::vector<fs::path>* unread) {
    const std::string element = Lower(tag.name);
    model->strips_paths = model->strips_paths || element == "robot";
    if (element == "compiler") {
      for (const char* name : {"meshdir", "texturedir", "assetdir"}) {
        const std::string* const value = tag.Find(name);
        if (value && std::find(model->folders.begin(), model->folders.end(), *value) == model->folders.end())
          model->folders.emplace_back(*value);
      }
      const std::string* const strips = tag.Find("strippath");
      model->strips_paths = model->strips_paths || (strips && *strips == "true");
    }
    for (const auto& [attribute, value] : tag.attributes) {
      if (!attribute.starts_with("file") || value.empty()) continue;
      if (element == "include") {
        for (const fs::path& above : {model->folder, folder}) {
          const Candidate each{(above / value).lexically_normal(), fs::path(value).is_absolute()};
          if (Add(each)) unread->push_back(each.file);
        }
      } else {
        (element == "model" ? model->models : model->names).emplace_back(folder, value);
      }
    }
  }

  static std::vector<Candidate> Candidates(const Model& model, const fs::path& folder, const std::string& name) {
    const fs::path whole = name.starts_with(kPackage) ? name.substr(kPackage.size()) : name;
    std::vector<fs::path> names = {whole};
    std::vector<Candidate> candidates;
    if (model.strips_paths && whole.has_parent_path()) names.push_back(whole.filename());
    for (const fs::path& each : names) {
      for (const fs::path& below : model.folders) {
        for (const fs::path& above : {model.folder, folder})
          candidates.push_back({(above / below / each).lexically_normal(), (below / each).is_absolute()});
      }
    }
    return candidates;
  }

  // False: there is no such file.
  bool Add(const Candidate& candidate) {
    if (Full() || !Exists(candidate.file)) return false;
    const fs::path name = candidate.is_absolute ? candidate.file : candidate.file.lexically_relative(root_);
    found_.emplace(name.generic_string(), candidate.file);
    return true;
  }

  const fs::path root_file_, root_;
  std::vector<fs::path> models_;
  std::set<fs::path> seen_models_;
  std::map<std::string, fs::path> found_;
};

}  // namespace

std::map<std::string, fs::path> FilesNamedByXml(const fs::path& file) { return XmlFiles(file).Find(); }

}  // namespace backplane
