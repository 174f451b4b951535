#include "sweep/axis_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/files.hpp"
#include "base/format_count.hpp"
#include "base/sha256.hpp"
#include "base/suggest.hpp"
#include "contract/value.hpp"
#include "text/units.hpp"
#include "yaml/plain_json.hpp"

namespace backplane {
namespace {

constexpr size_t kMaxValues = 100000;

std::optional<double> ReadNumber(const Node& node) {
  return node.IsScalar() && !node.quoted ? ParseNumber(node.text) : std::nullopt;
}

Node NumberNode(double value, const Mark& mark) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.mark = mark;
  const bool whole = value == std::floor(value) && std::abs(value) < 0x1p53;
  node.text = whole ? fmt::format("{}", static_cast<int64_t>(value)) : fmt::format("{}", value);
  return node;
}

// 0.1 + 2 * 0.1 is to be 0.3.
double Rounded(double value) { return ParseNumber(fmt::format("{:.12g}", value)).value_or(value); }

std::shared_ptr<const Expression> ReadWhen(const Node& node, Errors* errors) {
  std::optional<Expression> when = Expression::Parse(node, errors);
  return when ? std::make_shared<const Expression>(*std::move(when)) : nullptr;
}

const std::vector<std::string> kKinds = {"uniform", "log_uniform", "int", "log_int", "choice"};

// "{log_uniform: [1e-5, 1e-2]}" for {type: float, low: 1e-5, high: 1e-2, log: true} and the like; empty: it has no bounds.
std::string OtherForm(const Node& node) {
  const auto text_of = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys)
      if (const Entry* entry = FindEntry(node, key); entry && entry->value.IsScalar()) return entry->value.text;
    return std::string();
  };
  const std::string low = text_of({"low", "min", "lower"}), high = text_of({"high", "max", "upper"});
  if (low.empty() || high.empty()) return "";
  const std::string type = text_of({"type", "distribution"});
  const bool is_log = text_of({"log"}) == "true" || type.find("log") != type.npos, is_int = type.find("int") != type.npos;
  return fmt::format("{{{}{}: [{}, {}]}}", is_log ? "log_" : "", is_int ? "int" : "uniform", low, high);
}

}  // namespace

std::vector<Node> ReadRange(const Node& node, const std::string& path, Errors* errors) {
  std::vector<double> numbers;
  for (const Node& item : node.items) {
    if (auto number = ReadNumber(item)) numbers.push_back(*number);
  }
  if (!node.IsList() || numbers.size() != node.items.size() || numbers.size() != 3) {
    errors->Add(node.mark, fmt::format("{}: expected a range [start, stop, step] of three numbers", path));
    return {};
  }
  const double start = numbers[0], stop = numbers[1], step = numbers[2];
  const double steps = std::floor((stop - start) / step + 1e-9);
  if (step != 0 && steps >= kMaxValues) {
    errors->Add(node.mark, fmt::format("{}: expected a range of at most {} values, got more", path, FormatCount(kMaxValues)));
    return {};
  }
  if (step == 0 || steps < 0) {
    errors->Add(node.mark, fmt::format("{}: steps of {} do not lead from {} to {}", path, step, start, stop));
    return {};
  }
  std::vector<Node> values;
  for (double i = 0; i <= steps; ++i) values.push_back(NumberNode(Rounded(start + i * step), node.mark));
  return values;
}

std::string ReadReason(const Node& node, const std::string& name, Errors* errors) {
  const auto text = ReadValue(node, {ValueType::kText, ""}, name, errors);
  return text ? text->get<std::string>() : "";
}

AxisValues ReadAxisValues(const Node& node, const std::string& path, Errors* errors) {
  AxisValues result;
  if (node.reported) return result;
  if (node.IsList()) {
    result.values = node.items;
  } else if (!node.IsMap() || (!FindEntry(node, "values") && !FindEntry(node, "range"))) {
    errors->Add(node.mark,
                fmt::format("{}: expected a list of values, {{range: [start, stop, step]}} or {{values: [...], when: ...}}, "
                            "got {}",
                            path, Describe(node)),
                ErrorCode::kOther, node.IsScalar() ? path + ": [" + node.text + "]" : "");
    return result;
  }
  for (const Entry& entry : node.entries) {
    if (entry.key == "values" && entry.value.IsList() && !FindEntry(node, "range")) {
      result.values = entry.value.items;
    } else if (entry.key == "range" && !FindEntry(node, "values")) {
      result.values = ReadRange(entry.value, path, errors);
      if (result.values.empty()) return result;
    } else if (entry.key == "when") {
      result.when = ReadWhen(entry.value, errors);
    } else if (entry.key == "why") {
      result.why = ReadReason(entry.value, path + ".why", errors);
    } else {
      errors->Add(entry.mark,
                  fmt::format("{}: expected either 'values' (a list) or 'range', and optionally 'when' and 'why'", path));
      return {};
    }
  }
  if (result.values.empty()) errors->Add(node.mark, fmt::format("{}: expected at least one value, got none", path));
  return result;
}

std::optional<Distribution> Distribution::Read(const Node& node, const std::string& path, Errors* errors) {
  Distribution d;
  d.mark_ = node.mark;
  if (!node.IsMap()) {
    errors->Add(node.mark,
                fmt::format("{}: expected a distribution such as {{uniform: [0, 1]}}, got {}", path, Describe(node)));
    return std::nullopt;
  }
  if (const std::string ours = OtherForm(node); !ours.empty()) {
    const Entry& first = node.entries.front();
    errors->Add(first.mark, fmt::format("{}: expected one of {}, got '{}'", path, fmt::join(kKinds, ", "), first.key),
                ErrorCode::kOther, path + ": " + ours);
    return std::nullopt;
  }
  const Node* step = nullptr;
  bool good = true;
  for (const Entry& entry : node.entries) {
    if (entry.key == "step") {
      step = &entry.value;
    } else if (entry.key == "when") {
      d.when_ = ReadWhen(entry.value, errors);
    } else if (std::find(kKinds.begin(), kKinds.end(), entry.key) == kKinds.end()) {
      errors->Add(entry.mark, fmt::format("{}: unknown distribution '{}'{}", path, entry.key,
                                          DidYouMean(Nearest(entry.key, Candidates(kKinds)))));
      good = false;
    } else if (!d.kind_.empty()) {
      errors->Add(entry.mark, fmt::format("{}: expected one distribution, got '{}' and '{}'", path, d.kind_, entry.key));
      good = false;
    } else {
      d.kind_ = entry.key;
      good = good && d.ReadBounds(entry.value, path, errors);
    }
  }
  if (good && d.kind_.empty()) {
    errors->Add(node.mark, fmt::format("{}: expected one of uniform, log_uniform, int, log_int, choice", path));
    return std::nullopt;
  }
  if (good && step) good = d.ReadStep(*step, path, errors);
  return good ? std::optional(std::move(d)) : std::nullopt;
}

bool Distribution::ReadStep(const Node& node, const std::string& path, Errors* errors) {
  step_ = ReadNumber(node).value_or(0);
  const bool whole = kind_ == "uniform" || step_ == std::floor(step_);
  if (kind_.starts_with("log_")) {
    errors->Add(node.mark,
                fmt::format("{}: expected no step with {}, whose values are not spaced evenly, got {}; use {} or leave "
                            "out the step",
                            path, kind_, step_, kind_ == "log_int" ? "int" : "uniform"));
    return false;
  }
  if (step_ > 0 && whole && kind_ != "choice") return true;
  errors->Add(node.mark, fmt::format("{}: {}", path,
                                     kind_ == "choice" ? "choice does not support a step"
                                     : whole           ? "expected a step above 0"
                                                       : "expected an integer as step"));
  return false;
}

bool Distribution::ReadBounds(const Node& node, const std::string& path, Errors* errors) {
  if (kind_ == "choice") {
    choices_ = node.items;
    if (choices_.empty()) errors->Add(node.mark, fmt::format("{}: choice needs a list of values", path));
    return !choices_.empty();
  }
  std::optional<double> low, high;
  if (node.items.size() == 2) low = ReadNumber(node.items[0]), high = ReadNumber(node.items[1]);
  if (!low || !high || *low > *high) {
    errors->Add(node.mark,
                fmt::format("{}: {} needs [low, high], two numbers with low <= high, got {}", path, kind_,
                            low && high ? fmt::format("[{}, {}]", node.items[0].text, node.items[1].text) : Describe(node)));
    return false;
  }
  const bool logarithm = kind_.starts_with("log_"), integer = kind_.ends_with("int");
  if (logarithm && *low <= 0) {
    errors->Add(node.mark, fmt::format("{}: {} needs numbers above 0, got {}", path, kind_, node.items[0].text));
    return false;
  }
  if (integer && (*low != std::floor(*low) || *high != std::floor(*high))) {
    errors->Add(node.mark, fmt::format("{}: {} needs integers", path, kind_));
    return false;
  }
  low_ = *low;
  high_ = *high;
  return true;
}

double Distribution::Uniform(uint64_t seed, uint64_t draw, const std::string& path) {
  const std::string digits = Sha256(fmt::format("{}/{}/{}", seed, draw, path)).substr(0, 13);  // 52 bits
  return static_cast<double>(std::stoull(digits, nullptr, 16)) * 0x1p-52;
}

size_t Distribution::Choose(double uniform) const {
  return static_cast<size_t>(uniform * static_cast<double>(choices_.size()));
}

Node Distribution::Draw(double uniform) const {
  const bool logarithm = kind_.starts_with("log_"), integer = kind_.ends_with("int");
  const double step = integer ? std::max(step_, 1.0) : step_;
  double value = 0;
  if (logarithm) {
    // Whole numbers get the share of the interval up to the next one.
    const double low = std::log(low_), high = std::log(integer ? high_ + 1 : high_);
    value = std::exp(low + uniform * (high - low));
    if (step > 0) value = low_ + step * std::floor((value - low_) / step);
  } else if (step > 0) {
    value = low_ + step * std::floor(uniform * (std::floor((high_ - low_) / step + 1e-9) + 1));
  } else {
    value = low_ + uniform * (high_ - low_);
  }
  value = std::clamp(value, low_, high_);
  return NumberNode(step > 0 ? Rounded(value) : value, mark_);
}

// Rounds values with a step as in a grid, so that equal points are one.
Node Distribution::Given(double value) const { return NumberNode(step_ > 0 ? Rounded(value) : value, mark_); }

std::vector<nlohmann::json> Distribution::ChoicesJson() const {
  std::vector<nlohmann::json> values;
  for (const Node& choice : choices_) {
    nlohmann::json value = PlainJson(choice);
    // 0 and 0.0 are equal, too, but differ as texts.
    const bool repeats = std::ranges::any_of(values, [&](const auto& other) { return other.dump() == value.dump(); });
    values.push_back(repeats && choice.IsScalar() ? nlohmann::json(choice.text) : std::move(value));
  }
  return values;
}

nlohmann::json Distribution::Json() const {
  nlohmann::json values = ChoicesJson();
  if (choices_.empty()) {
    const bool integer = kind_.ends_with("int");
    for (const double bound : {low_, high_}) values.push_back(integer ? nlohmann::json(int64_t(bound)) : nlohmann::json(bound));
  }
  nlohmann::json json = {{kind_, std::move(values)}};
  if (step_ > 0) json["step"] = step_;
  return json;
}

}  // namespace backplane
