#include "contract/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include "base/infinity.hpp"
#include "contract/experiment.hpp"
#include "contract/line_pattern.hpp"
#include "contract/placeholders.hpp"
#include "contract/policy.hpp"
#include "record/kept_start.hpp"
#include "text/units.hpp"
#include "yaml/errors.hpp"
#include "yaml/flow_text.hpp"
#include "yaml/plain_json.hpp"
#include "yaml/scalar_place.hpp"

namespace backplane {
namespace {

using nlohmann::json;

std::vector<std::string> SplitWords(const std::string& range) {
  std::vector<std::string> words;
  for (size_t from = 0; from <= range.size();) {
    size_t bar = std::min(range.find('|', from), range.size());
    words.push_back(range.substr(from, bar - from));
    from = bar + 1;
  }
  return words;
}

bool IsInterval(const std::string& word) {
  return word.size() >= 3 && (word[0] == '[' || word[0] == '(') && (word.back() == ']' || word.back() == ')') &&
         word.find(',') != std::string::npos;
}

bool InInterval(const std::string& interval, double value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto bound = [](std::string text, double open) {
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    return ParseNumber(text).value_or(open);
  };
  size_t comma = interval.find(',');
  double low = bound(interval.substr(1, comma - 1), -kInfinity);
  double high = bound(interval.substr(comma + 1, interval.size() - comma - 2), kInfinity);
  return (interval[0] == '[' ? value >= low : value > low) && (interval.back() == ']' ? value <= high : value < high);
}

constexpr size_t kMaxMeasureName = 256;  // the limit for plugins, too

// Plain text that YAML reads as a number or a flag.
bool IsOtherThanText(const Node& node) {
  return !node.quoted && (ParseNumber(node.text) || IsFlag(node.text, true) || IsFlag(node.text, false));
}

constexpr std::pair<ValueType, const char*> kWanted[] = {
    {ValueType::kNumber, "a number"},
    {ValueType::kInteger, "an integer"},
    {ValueType::kSeed, "an integer"},
    {ValueType::kFlag, "true or false"},
    {ValueType::kNumberList, "a list of numbers"},
    {ValueType::kIntegerList, "a list of integers"},
    {ValueType::kDuration, "a duration such as 90s, 30m or 1h30m"},
    {ValueType::kSize, "a size such as 512MiB, 4GB or 16GiB"},
    {ValueType::kPercent, "a percentage such as 5% or 0.5%"},
    {ValueType::kSizeOrShare, "a size such as 16GiB, or a percentage up to 100%"},
    {ValueType::kPath, "a path"},
    {ValueType::kPathList, "a list of paths"},
    {ValueType::kTextList, "a list of texts"},
    {ValueType::kMeasureList, "a list of metrics"},
    {ValueType::kFlapping, "a limit such as '3 in 60s', or 0"},
    {ValueType::kScalar, "a number, true or false, or text"},
    {ValueType::kWords, "a list of words such as [python, train.py, --seed, \"{seed}\"]"},
    {ValueType::kPatterns, "a mapping of metrics to patterns such as {return: \"return=([-0-9.]+)\"}"},
};

const char* Wanted(ValueType type) {
  for (const auto& [wanted_type, text] : kWanted)
    if (wanted_type == type) return text;
  return "text";
}

class ValueReader {
 public:
  ValueReader(const ValueRule& rule, const std::string& name, Errors* errors) : rule_(rule), name_(name), errors_(errors) {}

  std::optional<json> Read(const Node& node) {
    if (node.reported) return std::nullopt;
    switch (rule_.type) {
      case ValueType::kNumberList: return ReadList(node, ValueType::kNumber);
      case ValueType::kIntegerList: return ReadList(node, ValueType::kInteger);
      case ValueType::kPathList: return ReadList(node, ValueType::kPath);
      case ValueType::kTextList: return ReadList(node, ValueType::kText);
      case ValueType::kMeasureList: return ReadMeasures(node);
      case ValueType::kFailurePolicy: return ReadFailurePolicy(node);
      case ValueType::kJson: return PlainJson(node);
      case ValueType::kWords: return ReadWords(node);
      case ValueType::kPatterns: return ReadPatterns(node);
      case ValueType::kGoal: return ReadGoal(node);
      case ValueType::kStructure: return ReadStructure(node);
      default: return ReadScalar(node);
    }
  }

 private:
  std::optional<json> ReadScalar(const Node& node) {
    if (!node.IsScalar()) return WrongType(node);
    if (rule_.type == ValueType::kScalar) return PlainJson(node);
    if (IsRangeWord(rule_.range, node.text)) return json(node.text);
    if (rule_.type == ValueType::kNumber && rule_.range.empty() && ParseInfinity(node.text)) return json(node.text);
    if (!node.quoted && ParseInfinity(node.text))
      return Fail(node, fmt::format("{}: expected a finite number, got '{}'", name_, node.text));
    return ReadFiniteScalar(node);
  }

  std::optional<json> ReadFiniteScalar(const Node& node) {
    switch (rule_.type) {
      case ValueType::kNumber: return node.quoted ? WrongType(node) : Numeric(node, ParseNumber(node.text));
      case ValueType::kInteger: return node.quoted ? WrongType(node) : ReadInteger(node);
      case ValueType::kSeed: return node.quoted ? WrongType(node) : ReadSeed(node);
      case ValueType::kFlag: return ReadFlag(node);
      case ValueType::kDuration: return ReadDuration(node);
      case ValueType::kSize: return ReadSize(node);
      case ValueType::kPercent: return ReadPercent(node);
      case ValueType::kSizeOrShare: return ReadSizeOrShare(node);
      case ValueType::kFlapping: return ReadFlapping(node);
      default: return ReadText(node);
    }
  }

  std::nullopt_t Fail(const Node& node, std::string message, std::string hint = "") {
    errors_->Add(node.mark, std::move(message), ErrorCode::kOther, std::move(hint));
    return std::nullopt;
  }

  // "dir: '5'" for the text 5 of `output.dir` in a file.
  std::string Quoted(const Node& node) const {
    const std::string key = name_.substr(name_.rfind('.') + 1);
    const bool in_file = node.mark.source && node.mark.source->is_file && key.find('[') == std::string::npos;
    return fmt::format("{}'{}'", in_file ? key + ": " : "", node.text);
  }

  std::nullopt_t WrongType(const Node& node) {
    std::string wanted = Wanted(rule_.type);
    if (!rule_.range.empty()) {
      for (const std::string& word : SplitWords(rule_.range)) wanted += IsInterval(word) ? "" : " or '" + word + "'";
    }
    return Fail(node, fmt::format("{}: expected {}, got {}", name_, wanted, Describe(node)), OtherForm(node));
  }

  std::string Line(const Node& node, const std::string& value) const {
    const size_t dot = name_.rfind('.');
    if (name_.ends_with(']')) return "";  // an entry of a list
    return SettingLine(node.mark, dot == std::string::npos ? "" : name_.substr(0, dot), name_, value);
  }

  // A line for a value that other tools write in a different form; empty: none.
  std::string OtherForm(const Node& node) const {
    const std::string& text = node.text;
    unsigned hours = 0, minutes = 0, seconds = 0;
    if (rule_.type == ValueType::kDuration && std::sscanf(text.c_str(), "%u:%u:%u", &hours, &minutes, &seconds) == 3)
      return Line(node, seconds == 0 ? fmt::format("{}m", hours * 60 + minutes)
                                     : FormatDuration(hours * 3600.0 + minutes * 60.0 + seconds));
    if (text.starts_with("${") && text.ends_with('}') && text.find('.') != std::string::npos)
      return KeyLine("sweep", "{derive: {" + name_ + ": " + text.substr(2, text.size() - 3) + "}}");
    if (rule_.type == ValueType::kSeed && node.IsList()) return SettingLine(node.mark, "", "sweep.seeds", FlowText(node));
    const bool is_list = rule_.type == ValueType::kNumber || rule_.type == ValueType::kInteger;
    if (is_list && node.IsList() && !node.items.empty())
      return SettingLine(node.mark, "", "sweep", "{grid: {" + name_ + ": " + FlowText(node) + "}}");
    return "";
  }

  // The nearest value within the range, or the hundredth of a percentage; empty: the bound is open.
  std::string Within(const Node& node, double value) const {
    if (value > 1 && InRange(rule_.range, value / 100)) return Line(node, fmt::format("{}", value / 100));
    for (const std::string& word : SplitWords(rule_.range)) {
      const size_t comma = IsInterval(word) ? word.find(',') : std::string::npos;
      if (comma == std::string::npos) continue;
      for (const std::string& bound : {word.substr(1, comma - 1), word.substr(comma + 1, word.size() - comma - 2)}) {
        const std::optional<double> number = ParseNumber(bound);
        if (number && InRange(word, *number) && (*number > value) == (bound == word.substr(1, comma - 1)))
          return Line(node, bound);
      }
    }
    return "";
  }

  template <typename T>
  std::optional<json> Numeric(const Node& node, std::optional<T> value) {
    if (!value) return WrongType(node);
    if (!InRange(rule_.range, static_cast<double>(*value))) {
      return Fail(node, fmt::format("{}: {} is out of range {}", name_, node.text, rule_.range),
                  Within(node, static_cast<double>(*value)));
    }
    return json(*value);
  }

  std::optional<json> ReadInteger(const Node& node) {
    std::string_view digits = node.text;
    if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
    bool whole = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
    std::optional<int64_t> value = ParseInteger(node.text);
    if (!whole) value = ParseWholeNumber(node.text);
    if (whole && !value) return Fail(node, fmt::format("{}: {} does not fit into 64 bits", name_, node.text));
    return Numeric(node, value);
  }

  std::optional<json> ReadSeed(const Node& node) {
    uint64_t seed = 0;
    const char* const end = node.text.data() + node.text.size();
    const auto [stop, error] = std::from_chars(node.text.data(), end, seed);
    return error == std::errc() && stop == end ? std::optional<json>(seed) : ReadInteger(node);
  }

  std::optional<json> ReadFlag(const Node& node) {
    if (!node.quoted && IsFlag(node.text, true)) return json(true);
    if (!node.quoted && IsFlag(node.text, false)) return json(false);
    return WrongType(node);
  }

  std::optional<json> ReadDuration(const Node& node) {
    std::optional<double> seconds = ParseDuration(node.text);
    return Numeric(node, seconds) ? std::optional<json>(FormatDuration(*seconds)) : std::nullopt;
  }

  std::optional<json> ReadSize(const Node& node) {
    std::optional<uint64_t> bytes = ParseSize(node.text);
    return Numeric(node, bytes) ? std::optional<json>(FormatSize(*bytes)) : std::nullopt;
  }

  std::optional<json> ReadPercent(const Node& node) {
    std::optional<double> percent = ParsePercent(node.text);
    return Numeric(node, percent) ? std::optional<json>(FormatPercent(*percent)) : std::nullopt;
  }

  std::optional<json> ReadSizeOrShare(const Node& node) {
    const std::optional<double> percent = ParsePercent(node.text);
    if (!percent) return ReadSize(node);
    return *percent > 0 && *percent <= 100 ? std::optional<json>(FormatPercent(*percent)) : WrongType(node);
  }

  std::optional<json> ReadFlapping(const Node& node) {
    std::optional<FlappingLimit> limit = ParseFlapping(PlainJson(node));
    return limit ? std::optional<json>(FormatFlapping(*limit)) : WrongType(node);
  }

  std::optional<json> ReadFailurePolicy(const Node& node) {
    json written = PlainJson(node);
    const bool word = written.is_string() && written != "retry" && IsRangeWord(rule_.range, written.get<std::string>());
    if (word || (written.is_object() && ParseFailurePolicy(written))) return written;
    std::string wanted = rule_.range;
    if (size_t at = wanted.find("retry"); at != std::string::npos) wanted.replace(at, 5, "{retry: N}");
    return Fail(node, fmt::format("{}: expected one of {}, got {}", name_, wanted, Describe(node)));
  }

  // Starts at the current folder, like output.dir.
  std::optional<json> ReadStart(const Node& node) {
    if (node.text.empty()) return Fail(node, fmt::format("{}: expected a trial or a file, got an empty text", name_));
    return json(std::filesystem::absolute(node.text).lexically_normal().string());
  }

  std::optional<json> ReadText(const Node& node) {
    bool listed = rule_.type == ValueType::kEnum || !rule_.range.empty();
    if (listed) return Fail(node, fmt::format("{}: expected one of {}, got {}", name_, rule_.range, Describe(node)));
    if (IsOtherThanText(node)) {
      return Fail(node, fmt::format("{}: expected {}, got {}", name_, Wanted(rule_.type), node.text), Quoted(node));
    }
    if (rule_.type == ValueType::kName && !IsNameText(node.text)) {
      return Fail(node, fmt::format("{}: expected a name of letters, digits, '_', '-' and '.', got '{}'", name_, node.text));
    }
    if (name_ == kStartKey) return ReadStart(node);
    return json(rule_.type == ValueType::kPath ? AbsolutePath(node.text, node.mark) : node.text);
  }

  std::optional<json> ReadList(const Node& node, ValueType item_type) {
    if (!node.IsList()) return WrongType(node);
    json list = json::array();
    bool good = true;
    for (size_t i = 0; i < node.items.size(); ++i) {
      std::optional<json> item = ReadValue(node.items[i], {item_type, rule_.range}, fmt::format("{}[{}]", name_, i), errors_);
      good = good && item;
      if (item) list.push_back(*item);
    }
    return good ? std::optional(list) : std::nullopt;
  }

  // A word is its text, whatever type YAML reads it as.
  std::optional<json> ReadWords(const Node& node) {
    if (!node.IsList() || node.items.empty()) return WrongType(node);
    json words = json::array();
    for (size_t i = 0; i < node.items.size(); ++i) {
      const Node& word = node.items[i];
      std::string why_not;
      if (!word.IsScalar())
        return Fail(word, fmt::format("{}[{}]: expected a word, got {}; quote placeholders", name_, i, Describe(word)),
                    word.IsMap() && word.entries.size() == 1 ? "\"{" + word.entries[0].key + "}\"" : "");
      if (!PlaceholdersIn(word.text, &why_not)) return Fail(word, fmt::format("{}[{}]: {}", name_, i, why_not));
      words.push_back(word.text);
    }
    if (words[0] == "") return Fail(node.items[0], fmt::format("{}[0]: expected a program, got an empty text", name_));
    return words;
  }

  std::optional<json> ReadPatterns(const Node& node) {
    if (!node.IsMap()) return WrongType(node);
    json patterns = json::object();
    bool good = true;
    for (const Entry& entry : node.entries) {
      if (!IsLine(entry.key) || entry.key.empty() || entry.key.size() > kMaxMeasureName)
        return Fail(node, fmt::format("{}: expected a metric's name, one line of 1 to {} bytes", name_, kMaxMeasureName));
      if (!entry.value.IsScalar())
        return Fail(entry.value, fmt::format("{}.{}: expected a pattern, got {}", name_, entry.key, Describe(entry.value)));
      if (const PatternError* error = ErrorOfPattern(entry.value.text)) {
        errors_->Add(PlaceWithin(entry.value, error->at), fmt::format("{}.{}: {}", name_, entry.key, error->sentence));
        good = false;
      }
      patterns[entry.key] = entry.value.text;
    }
    return good ? std::optional(patterns) : std::nullopt;
  }

  // NULL: none. A sweep reads the same patterns at each of its points.
  static const PatternError* ErrorOfPattern(const std::string& text) {
    thread_local std::map<std::string, PatternError> known;
    const auto [found, fresh] = known.try_emplace(text);
    if (fresh) LinePattern::Make(text, &found->second);
    return found->second.sentence.empty() ? nullptr : &found->second;
  }

  static bool IsLine(const std::string& name) {
    return std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  }

  std::optional<json> ReadGoal(const Node& node) {
    std::string why_not;
    const std::optional<Goal> goal = GoalFromJson(PlainJson(node), &why_not);
    return goal ? std::optional<json>(JsonOfGoal(*goal)) : Fail(node, fmt::format("{}: {}", name_, why_not), kUntilExample);
  }

  std::optional<json> ReadStructure(const Node& node) {
    if (rule_.range == "paths") return ReadValue(node, {ValueType::kPathList, ""}, name_, errors_);
    const char* const found = node.IsMap() ? "mapping" : node.IsList() ? "list" : "";
    if (*found != '\0' && (rule_.range.empty() || IsRangeWord(rule_.range, found))) return PlainJson(node);
    std::string wanted;
    for (const std::string& word : SplitWords(rule_.range.empty() ? "mapping|list" : rule_.range))
      wanted += (wanted.empty() ? "a " : " or a ") + word;
    return Fail(node, fmt::format("{}: expected {}, got {}", name_, wanted, Describe(node)));
  }

  std::optional<json> ReadMeasures(const Node& node) {
    std::optional<json> list = ReadList(node, ValueType::kText);
    if (!list) return std::nullopt;
    if (list->size() > kMaxLive)
      return Fail(node, fmt::format("{}: expected at most {} metrics, got {}", name_, kMaxLive, list->size()));
    for (size_t i = 0; i < list->size(); ++i) {
      const std::string name = (*list)[i];
      const bool is_line = IsLine(name);
      if (name.empty() || name.size() > kMaxLiveName || !is_line)
        return Fail(node.items[i], fmt::format("{}[{}]: expected a metric's name, one line of 1 to {} bytes, got '{}'", name_,
                                               i, kMaxLiveName, is_line ? name : "control characters"));
      if (std::find(list->begin(), list->begin() + static_cast<ptrdiff_t>(i), name) !=
          list->begin() + static_cast<ptrdiff_t>(i))
        return Fail(node.items[i], fmt::format("{}[{}]: '{}' is already in the list", name_, i, name));
    }
    return list;
  }

  const ValueRule& rule_;
  const std::string& name_;
  Errors* errors_;
};

}  // namespace

bool IsNameText(std::string_view text) {
  return !text.empty() && text != "." && text != ".." && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
  });
}

bool InRange(const std::string& range, double value) {
  bool bounded = false;
  for (const std::string& word : SplitWords(range)) {
    if (!IsInterval(word)) continue;
    if (InInterval(word, value)) return true;
    bounded = true;
  }
  return !bounded;
}

bool IsRangeWord(const std::string& range, const std::string& text) {
  if (range.empty()) return false;
  std::vector<std::string> words = SplitWords(range);
  return !IsInterval(text) && std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<json> ReadValue(const Node& node, const ValueRule& rule, const std::string& name, Errors* errors) {
  return ValueReader(rule, name, errors).Read(node);
}

std::optional<json> ReadDefault(const std::string& text, const ValueRule& rule, std::string* why_not) {
  bool is_text = rule.type == ValueType::kText || rule.type == ValueType::kPath || rule.type == ValueType::kEnum;
  if (text.empty() && is_text) return json("");
  Errors errors;
  std::optional<Node> node = ParseDocument(text, MakeSource("default", "", text, 0), &errors);
  std::optional<json> value;
  if (node && node->IsNull()) return json(nullptr);
  if (node && node->IsScalar() && is_text && rule.type != ValueType::kEnum)
    return json(node->text);  // its place is the author's
  if (node) value = ReadValue(*node, rule, "default", &errors);
  if (errors.empty()) return value;
  *why_not = errors.Sorted().front().message;
  return std::nullopt;
}

std::string Describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull: return "nothing";
    case Node::Kind::kList: return "a list";
    case Node::Kind::kMap: return "a mapping";
    case Node::Kind::kScalar: break;
  }
  if (node.quoted) return fmt::format("the text '{}'", node.text);
  return IsOtherThanText(node) ? node.text : fmt::format("'{}'", node.text);
}

std::string AbsolutePath(const std::string& path, const Mark& mark) {
  if (path.empty() || !mark.source || mark.source->folder.empty()) return path;
  return (mark.source->folder / path).lexically_normal().string();
}

}  // namespace backplane
