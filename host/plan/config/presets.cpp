#include "config/presets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/suggest.hpp"
#include "config/base.hpp"
#include "contract/schema.hpp"
#include "contract/value.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr int kOrder = 900;  // after the experiment's files, before --set
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
constexpr char kAuto[] = "auto", kNoGpu[] = "none";

// A preset cannot change the subject of an experiment.
bool IsOfAPreset(const std::string& path) {
  const HostKey* key = FindHostKey(path);
  const bool is_subject = key && (key->type == ValueType::kPluginName || key->of_command || key->type == ValueType::kMonitors ||
                                  key->type == ValueType::kWrappers || path == "seed");
  return !is_subject && ScopeAt(path) != Scope::kBatch;
}

// The devices for which a preset is meant.
struct DeviceRule {
  std::string gpu;            // in the device's name, in whichever case; "none": for machines without one
  uint64_t memory_bytes = 0;  // the least
};

struct PresetFile {
  fs::path file;
  Node root;
  DeviceRule device;
};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool IsPath(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml");
}

DeviceRule ReadDevice(const Node& root, Errors* errors) {
  DeviceRule rule;
  const Entry* device = FindEntry(root, "device");
  if (!device) return rule;
  if (!device->value.IsMap()) {
    errors->Add(device->value.mark, "device: expected {gpu: NAME, memory: 16GiB}, got " + Describe(device->value));
    return rule;
  }
  for (const Entry& entry : device->value.entries) {
    if (entry.key == "gpu") {
      if (auto gpu = ReadValue(entry.value, {ValueType::kText, ""}, "device.gpu", errors)) rule.gpu = gpu->get<std::string>();
    } else if (entry.key == "memory") {
      const auto memory = ReadValue(entry.value, {ValueType::kSize, "(0,)"}, "device.memory", errors);
      if (memory) rule.memory_bytes = static_cast<uint64_t>(ParseSize(memory->get<std::string>()).value_or(0));
    } else {
      errors->Add(entry.mark, fmt::format("device: expected 'gpu' or 'memory', got '{}'", entry.key));
    }
  }
  return rule;
}

std::optional<PresetFile> ReadFile(const fs::path& file, Errors* errors) {
  std::optional<Node> root = ReadWithBase(file, errors, kOrder);
  if (!root) return std::nullopt;
  const DeviceRule rule = ReadDevice(*root, errors);
  return PresetFile{file, *std::move(root), rule};
}

// Each name once: the nearest folder's.
std::map<std::string, fs::path> Find(const std::vector<fs::path>& folders) {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".yaml") found.emplace(entry.path().stem().string(), entry.path().lexically_normal());
    }
  }
  return found;
}

struct Choice {
  const PresetFile* preset = nullptr;
  std::string why;
};

// One that names the device; else the one for the most memory that the device has; else one for machines without a GPU.
Choice Choose(const std::vector<PresetFile>& presets, const std::optional<PresetDevice>& device) {
  const PresetFile *named = nullptr, *fits = nullptr, *without = nullptr;
  for (const PresetFile& preset : presets) {
    const DeviceRule& rule = preset.device;
    if (rule.gpu == kNoGpu) {
      without = without ? without : &preset;
    } else if (device && !rule.gpu.empty() && rule.memory_bytes <= device->memory_bytes) {
      const bool is_named = Lower(device->name).find(Lower(rule.gpu)) != std::string::npos;
      if (is_named && (!named || named->device.gpu.size() < rule.gpu.size())) named = &preset;
      if (!fits || fits->device.memory_bytes < rule.memory_bytes) fits = &preset;
    }
  }
  if (!device) return {without, "no GPU was found"};
  const std::string found = fmt::format("the GPU is '{}' with {:.0f} GiB", device->name, device->memory_bytes / kGiB);
  if (named) return {named, found};
  if (fits) {
    return {fits, fmt::format("{}, for which there is no preset; the chosen preset is for any GPU with {:.0f} GiB or more",
                              found, fits->device.memory_bytes / kGiB)};
  }
  return {without, found + ", too little for every preset"};
}

class PresetReader {
 public:
  PresetReader(const PresetSearch& search, const fs::path& experiment, Errors* errors) : search_(search), errors_(errors) {
    const fs::path folder = experiment.parent_path();
    folders_ = {folder / "presets", (folder / ".." / "presets").lexically_normal()};
    folders_.insert(folders_.end(), search.folders.begin(), search.folders.end());
  }

  Preset Read(Node* root) {
    Preset preset;
    const std::optional<Node> name = Name(*root);
    if (!name) return preset;
    const std::optional<PresetFile> file = name->text == kAuto ? Chosen(*name, &preset.note) : Named(*name);
    if (!file) return preset;
    Node recorded = *name;
    recorded.text = file->file.stem().string();
    recorded.quoted = true;  // also one that looks like a number
    SetPath(root, "preset", name->mark, std::move(recorded));
    for (const Entry& entry : file->root.entries) {
      if (entry.key == "for_learner") {
        ReadForLearners(entry, &later_);
      } else if (entry.key != "device") {
        Flatten(entry, entry.key, "", &preset.values);
      }
    }
    // Values for one learner replace values for all.
    std::move(later_.begin(), later_.end(), std::back_inserter(preset.values));
    return preset;
  }

 private:
  std::optional<Node> Name(const Node& root) {
    if (!search_.name.empty()) {
      Node name;
      name.kind = Node::Kind::kScalar;
      name.mark = Mark{MakeArgumentSource("--preset", search_.name, kOrder + 1), 1, 1};
      name.text = search_.name;
      return name;
    }
    const Entry* entry = FindEntry(root, "preset");
    if (!entry || entry->value.IsNull()) return std::nullopt;
    if (!ReadValue(entry->value, {ValueType::kText, ""}, "preset", errors_)) return std::nullopt;
    return entry->value;
  }

  std::optional<PresetFile> Named(const Node& name) {
    if (IsPath(name.text)) {
      fs::path file = name.text;
      if (name.mark.source->is_file && file.is_relative())
        file = (fs::path(name.mark.source->name).parent_path() / file).lexically_normal();
      std::error_code error;  // a name that is too long is none
      if (fs::is_regular_file(file, error)) return ReadFile(file, errors_);
      errors_->Add(name.mark, fmt::format("preset: cannot read '{}'", file.string()));
      return std::nullopt;
    }
    const std::map<std::string, fs::path> presets = Find(folders_);
    if (const auto found = presets.find(name.text); found != presets.end()) return ReadFile(found->second, errors_);
    std::vector<std::string> names = {kAuto};
    for (const auto& [known, file] : presets) names.push_back(known);
    errors_->Add(name.mark, fmt::format("unknown preset '{}'{}{}", name.text, DidYouMean(Nearest(name.text, Candidates(names))),
                                        Searched()));
    return std::nullopt;
  }

  std::optional<PresetFile> Chosen(const Node& name, std::string* note) {
    std::vector<PresetFile> presets;
    for (const auto& [known, file] : Find(folders_)) {
      if (std::optional<PresetFile> preset = ReadFile(file, errors_)) presets.push_back(*std::move(preset));
    }
    const Choice choice = Choose(presets, search_.device ? search_.device() : std::nullopt);
    if (!choice.preset) {
      errors_->Add(name.mark, "preset: no preset fits this machine: " + choice.why + Searched());
      return std::nullopt;
    }
    *note = fmt::format("preset: {} ({}), because {}", choice.preset->file.stem().string(), choice.preset->file.string(),
                        choice.why);
    return *choice.preset;
  }

  std::string Searched() const {
    std::string text;
    for (const fs::path& folder : folders_) text += (text.empty() ? " (searched: " : ", ") + folder.string();
    return text + ")";
  }

  void ReadForLearners(const Entry& section, std::vector<PresetValue>* values) {
    if (!section.value.IsMap()) {
      errors_->Add(section.value.mark, "for_learner: expected {NAME: {...}}, got " + Describe(section.value));
      return;
    }
    for (const Entry& learner : section.value.entries) {
      if (!learner.value.IsMap()) {
        errors_->Add(learner.value.mark,
                     fmt::format("for_learner.{}: expected a mapping, got {}", learner.key, Describe(learner.value)));
        continue;
      }
      for (const Entry& entry : learner.value.entries) Flatten(entry, entry.key, learner.key, values);
    }
  }

  // Adds single values; each replaces the experiment's value under any of its names.
  void Flatten(const Entry& entry, const std::string& path, const std::string& learner, std::vector<PresetValue>* values) {
    if (!IsOfAPreset(path)) {
      errors_->Add(entry.mark,
                   fmt::format("'{}' cannot be in a preset, because it changes the experiment's subject or the batch", path));
      return;
    }
    const HostKey* key = FindHostKey(path);
    if (entry.value.IsMap() && path != "budget" && (!key || key->type == ValueType::kPluginOptions)) {
      for (const Entry& inner : entry.value.entries) Flatten(inner, path + "." + inner.key, learner, values);
    } else {
      values->push_back({Override{path, entry.mark, false, entry.value}, learner});
    }
  }

  const PresetSearch& search_;
  Errors* errors_;
  std::vector<fs::path> folders_;
  std::vector<PresetValue> later_;
};

}  // namespace

Preset ReadPreset(const PresetSearch& search, const fs::path& experiment, Node* root, Errors* errors) {
  return PresetReader(search, experiment, errors).Read(root);
}

}  // namespace backplane
