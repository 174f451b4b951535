#include "cli/reference_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "contract/schema.hpp"

namespace backplane {
namespace {

template <class Row>
struct ReferenceColumn {
  const char* title;
  std::string (*cell)(const Row&);
};

// A '|' ends a cell, in code too.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

// Escapes words that look like HTML tags, which would not be shown.
std::string Prose(const std::string& text) {
  std::string out;
  for (const char c : Escaped(text)) out += c == '<' ? "&lt;" : std::string(1, c);
  return out;
}

std::string Code(const std::string& text) { return text.empty() ? "" : "`" + Escaped(text) + "`"; }

template <class Row, size_t n>
std::string MarkdownTable(const ReferenceColumn<Row> (&columns)[n], const auto& rows) {
  std::string head = "|", rule = "|", body;
  for (const ReferenceColumn<Row>& column : columns) head += fmt::format(" {} |", column.title), rule += "---|";
  for (const Row& row : rows) {
    body += "|";
    for (const ReferenceColumn<Row>& column : columns) {
      const std::string cell = column.cell(row);
      body += cell.empty() ? " |" : " " + cell + " |";
    }
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

// Other names of an option; one with a dot is a key of the host, which the option stands for.
std::string OtherNames(const OptionInfo& option) {
  std::string own, host;
  for (const std::string& name : option.aliases) {
    if (name.find('.') != std::string::npos)
      host = fmt::format(" Another name of {}.", Code(name));
    else
      own += (own.empty() ? " Also " : ", ") + Code(name);
  }
  return (own.empty() ? own : own + ".") + host;
}

std::string OptionDefault(const OptionInfo& option) {
  if ((option.flags & BP_PARAM_REQUIRED) != 0) return "required";
  return option.def ? Code(*option.def) : "";
}

// Returns whether the sentence contains the word, regardless of case.
bool Says(std::string_view sentence, std::string_view word) {
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  for (auto from = sentence.begin();;) {
    const auto at = std::search(from, sentence.end(), word.begin(), word.end(), same);
    if (at == sentence.end()) return false;
    from = at + static_cast<std::ptrdiff_t>(word.size());
    if ((at == sentence.begin() || !letter(at[-1])) && (from == sentence.end() || !letter(*from))) return true;
  }
}

std::string OptionMeaning(const OptionInfo& option) {
  std::string text = Prose(option.doc);
  if (!text.ends_with('.')) text += ".";
  if (!option.unit.empty() && !Says(option.doc, option.unit)) text += fmt::format(" In {}.", option.unit);
  return text + OtherNames(option);
}

constexpr ReferenceColumn<OptionInfo> kOptionColumns[] = {
    {"option", [](const OptionInfo& o) { return Code(o.path); }},
    {"type", [](const OptionInfo& o) { return std::string(OptionTypeName(o.type)); }},
    {"default", OptionDefault},
    {"range", [](const OptionInfo& o) { return Code(o.range.value_or("")); }},
    {"meaning", OptionMeaning},
};

std::string KeyType(const HostKey& key) {
  switch (key.type) {
    case ValueType::kSeed: return "integer";
    case ValueType::kDuration: return "duration";
    case ValueType::kSize: return "size";
    case ValueType::kPercent: return "percentage";
    case ValueType::kSizeOrShare: return "size or percentage";
    case ValueType::kName: return "name";
    case ValueType::kTextList: return "list of texts";
    case ValueType::kPathList: return "list of paths";
    case ValueType::kMeasureList: return "list of measures";
    case ValueType::kWords: return "list of words";
    case ValueType::kPatterns: return "mapping";
    case ValueType::kGoal: return "mapping";
    case ValueType::kPluginName: return "plugin";
    case ValueType::kPluginOptions: return "mapping";
    case ValueType::kMonitors:
    case ValueType::kWrappers: return "list of plugins";
    case ValueType::kFailurePolicy: return "policy";
    case ValueType::kFlapping: return "limit";
    case ValueType::kJson: return "any";
    case ValueType::kBase: return "path";
    case ValueType::kSweep:
    case ValueType::kCompare: return "mapping";
    case ValueType::kStages: return "list of mappings";
    default: return OptionTypeName(static_cast<uint16_t>(key.type));
  }
}

const char* ScopeName(Scope scope) {
  switch (scope) {
    case Scope::kIdentity: return "identity";
    case Scope::kSpeed: return "speed";
    case Scope::kBatch: return "batch";
  }
  return "";
}

std::string KeyDefault(const HostKey& key) {
  if (key.required) return "required";
  return key.def != nullptr ? Code(key.def) : "";
}

// Some keys outside the identity have a part inside it: the kind of device, the measurement.
std::string KeyScope(const HostKey& key) {
  const bool in_part = key.scope != Scope::kIdentity && !key.canonical.empty();
  return std::string(ScopeName(key.scope)) + (in_part ? ", in part identity" : "");
}

constexpr ReferenceColumn<HostKey> kKeyColumns[] = {
    {"key", [](const HostKey& k) { return Code(k.path); }},
    {"type", KeyType},
    {"default", KeyDefault},
    {"range", [](const HostKey& k) { return Code(k.range); }},
    {"scope", KeyScope},
    {"meaning", [](const HostKey& k) { return Prose(k.doc); }},
};

// A name with its meaning.
struct NamedFact {
  const char *name, *meaning;
};

constexpr ReferenceColumn<NamedFact> kVariableColumns[] = {
    {"variable", [](const NamedFact& one) { return Code(one.name); }},
    {"meaning", [](const NamedFact& one) { return Prose(one.meaning); }},
};
constexpr ReferenceColumn<NamedFact> kExitColumns[] = {
    {"exit", [](const NamedFact& one) { return std::string(one.name); }},
    {"meaning", [](const NamedFact& one) { return Prose(one.meaning); }},
};

constexpr NamedFact kVariables[] = {
    {"BACKPLANE_PLUGIN_PATH", "Folders with plugins, separated by ':'; searched after --plugin-path."},
    {"BACKPLANE_PYTHON", "Python for searches, figures, Ray and `setup torch`, instead of the installed one."},
    {"BACKPLANE_TORCH_LIB", "Folder with the libraries of LibTorch, instead of the installed one."},
    {"BACKPLANE_HOME", "Folder of the installation, for programs that embed Backplane and for the Python package."},
    {"BACKPLANE_CLUSTER_PATIENCE",
     "Time limit of a call to Slurm in seconds; other waits for a cluster are multiples of it; default: 30."},
    {"BACKPLANE_VALIDATE", "`off` skips the quick check of a new plugin file before its first trial."},
    {"BACKPLANE_PROGRAM", "Set by Backplane for its tools: the name of the program as you typed it."},
    {"BACKPLANE_WORKERS", "Ray cluster that runs the rollout workers, as `ray:ADDRESS`; without it, this machine runs them."},
    {"BACKPLANE_MIXED_NODES",
     "Any value allows rollout workers on nodes with different processors; results may then differ in the last bits."},
    {"BACKPLANE_REPORT_FD", "Set by Backplane for a trial by command: the pipe for its reports."},
    {"BACKPLANE_REPORT_INODE", "Set by Backplane for a trial by command: the identity of that pipe."},
    {"BACKPLANE_TRIAL_DIR", "Set by Backplane for a trial by command: the folder of the trial."},
    {"BACKPLANE_CHECKPOINT_DIR", "Set by Backplane for a trial by command: the folder that survives a restart of the trial."},
    {"BACKPLANE_EXPERIMENT_DIR", "Set by Backplane for a trial by command: the folder of the experiment file."},
    {"CUDA_VISIBLE_DEVICES", "GPUs that trials may use, as for every program; each trial gets its own."},
    {"NO_COLOR", "Any value switches colours off, unless --color is given."},
    {"TERM", "`dumb` switches off progress lines that overwrite themselves."},
    {"VIRTUAL_ENV", "Virtual environment whose Python runs envs in Python, unless their option `python` is set."},
    {"PYTORCH_ALLOC_CONF", "Settings of LibTorch's allocator; plugins keep yours."},
    {"SLURM_CPUS_PER_TASK", "Set by Slurm: the cores of a node agent."},
};
constexpr NamedFact kExits[] = {
    {"0", "Every trial completed, was infeasible or was skipped."},
    {"1", "No usable result, or a check failed; `gate`: a condition of --fail-if holds."},
    {"2", "Wrong command line or file; no trial was started. `gate`: any failure."},
    {"3", "Some trials failed or did not run: a paused batch or search, or a cluster whose nodes were lost."},
    {"4", "`gate`: undecided."},
    {"130", "Interrupted."},
};

}  // namespace

std::string EnvironmentMarkdown() { return MarkdownTable(kVariableColumns, kVariables); }

std::string ExitCodesMarkdown() { return MarkdownTable(kExitColumns, kExits); }

std::string OptionsMarkdown(const PluginInfo& info) {
  return info.options.empty() ? "It has no options.\n" : MarkdownTable(kOptionColumns, info.options);
}

std::string KeysMarkdown() { return MarkdownTable(kKeyColumns, HostKeys()); }

}  // namespace backplane
