#include "sweep/grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "base/format_count.hpp"
#include "base/suggest.hpp"
#include "config/short_forms.hpp"
#include "contract/value.hpp"
#include "sweep/axis_values.hpp"
#include "sweep/derive_order.hpp"
#include "sweep/sections.hpp"
#include "yaml/flow_text.hpp"

namespace backplane {
namespace {

// Limit for all axes and the list together.
constexpr size_t kMaxSweptValues = 500000;
constexpr size_t kMaxDerived = 1000;

class SweepReader {
 public:
  SweepReader(std::vector<ShortAxis> short_axes, const PathOfName& path_of, Errors* errors)
      : short_(std::move(short_axes)), path_of_(path_of), errors_(errors) {}

  Sweep Read(const Entry* section) {
    if (section) ReadSection(*section);
    if (too_many_values_) return {};
    const bool list_alone = !sweep_.list.empty() && grid_.empty() && zip_.empty() && files_.empty() && random_.empty();
    sweep_.axes = std::move(grid_);
    for (const ShortAxis& axis : short_) {
      if (used_.contains(&axis)) continue;
      if (list_alone || !axis.point.empty()) {
        AddPointAxis(axis);
      } else {
        AddShort(axis, &sweep_.axes);
      }
    }
    for (std::vector<Axis>* axes : {&zip_, &files_, &random_})
      std::move(axes->begin(), axes->end(), std::back_inserter(sweep_.axes));
    OrderDerived(&sweep_.derive, errors_);
    CheckMemoryAxes();
    return std::move(sweep_);
  }

 private:
  void ReadSection(const Entry& section) {
    sweep_.mark = section.mark;
    const Node& node = section.value;
    if (!node.IsMap()) {
      if (!node.IsNull() && !node.reported) errors_->Add(node.mark, "sweep: expected a mapping, got " + Describe(node));
      return;
    }
    using Reader = void (SweepReader::*)(const Entry&);
    static const std::map<std::string, Reader> readers = {{"grid", &SweepReader::ReadGrid},
                                                          {"zip", &SweepReader::ReadZip},
                                                          {"list", &SweepReader::ReadList},
                                                          {"files", &SweepReader::ReadFiles},
                                                          {"random", &SweepReader::ReadRandom},
                                                          {"derive", &SweepReader::ReadDerive},
                                                          {"where", &SweepReader::ReadWhere},
                                                          {"seeds", &SweepReader::ReadSeeds},
                                                          {"memory_axes", &SweepReader::ReadMemoryAxes},
                                                          {"search", &SweepReader::ReadSearch}};
    for (const Entry& entry : node.entries) {
      auto reader = readers.find(entry.key);
      if (reader != readers.end()) {
        if (!entry.value.reported) (this->*reader->second)(entry);
        continue;
      }
      const std::vector<std::string> near =
          errors_->WantsHint(entry.mark) ? NearKeys(entry.key, readers) : std::vector<std::string>();
      const std::string grid = GridOf(entry);
      errors_->Add(entry.mark, fmt::format("unknown key '{}' in sweep{}", entry.key, DidYouMean(near)), ErrorCode::kOther,
                   !grid.empty()  ? KeyLine("sweep", "{grid: {" + grid + "}}")
                   : near.empty() ? ""
                                  : KeyLine(near.front(), FlowText(entry.value)));
    }
    if (sweep_.search) CheckSearch(node);
  }

  static std::vector<std::string> NearKeys(const std::string& key, const auto& readers) {
    std::vector<Candidate> names = {{"params", "grid"}, {"points", "list"}, {"constraints", "where"}, {"sample", "random"}};
    for (const auto& [name, unused] : readers) names.push_back({name, name});
    return Nearest(key, names);
  }

  // "learner.options.lr: [1, 2]" for the axis `lr: [1, 2]` or `parameters: {lr: {values: [1, 2]}}`; empty: it is no axis.
  std::string GridOf(const Entry& entry) const {
    const Entry* values = entry.value.IsMap() ? FindEntry(entry.value, "values") : nullptr;
    const Node& list = values ? values->value : entry.value;
    if (list.IsList()) return PathOf(entry.key) + ": " + FlowText(list);
    std::string axes;
    for (const Entry& axis : entry.value.entries) {
      const std::string text = GridOf(axis);
      if (text.empty()) return "";
      axes += (axes.empty() ? "" : ", ") + text;
    }
    return axes;
  }

  std::string PathOf(const std::string& name) const {
    const std::string path = path_of_ && name.find('.') == std::string::npos ? path_of_(name) : "";
    return path.empty() ? name : path;
  }

  void ReadSearch(const Entry& section) {
    const SearchSection search = ReadSearchSection(section, errors_);
    sweep_.search = search.terms;
    for (size_t i = 0; search.space && i < search.space->entries.size(); ++i) ReadSearched(search.space->entries[i]);
  }

  void ReadSearched(const Entry& entry) {
    std::optional<Distribution> distribution = Distribution::Read(entry.value, entry.key, errors_);
    if (!Claim(entry.key, entry.mark) || !distribution) return;
    if (sweep_.search->method == "cmaes" && !distribution->choices().empty()) {
      errors_->Add(entry.value.mark,
                   fmt::format("{}: method cmaes only searches numbers; use a different method, or no choice", entry.key));
      return;
    }
    AddPath(entry.key);
    SearchedPath searched{entry.key, entry.mark, *std::move(distribution), {}};
    for (const Node& choice : searched.distribution.choices())
      searched.choices.push_back(Assign(entry.key, entry.mark, choice, searched.distribution.when()));
    sweep_.space.push_back(std::move(searched));
  }

  // A search chooses its points itself, one after the other.
  void CheckSearch(const Node& section) {
    for (const char* key : {"grid", "zip", "list", "files", "random", "memory_axes"}) {
      if (const Entry* beside = FindEntry(section, key))
        errors_->Add(beside->mark, fmt::format("sweep.{0} cannot be combined with sweep.search, which chooses all points; move "
                                               "the values of sweep.{0} to sweep.search.space",
                                               key));
    }
    for (const ShortAxis& axis : short_)
      errors_->Add(
          axis.mark,
          fmt::format("'{}' cannot be swept together with sweep.search; move its values to sweep.search.space, or set one "
                      "value with --set",
                      axis.path));
    short_.clear();
    if (sweep_.search->Prunes() && sweep_.seeds && sweep_.seeds->n > 1)
      errors_->Add(sweep_.search->pruner_mark,
                   fmt::format("sweep.search.pruner: a pruner stops single trials, so it needs one seed per point, got {} "
                               "(sweep.seeds.n); sweep.search.confirm runs the best points with more seeds",
                               sweep_.seeds->n));
  }

  // One mapping instead of a list of mappings; empty: it is no such list, or a key occurs twice.
  static std::string Merged(const Entry& entry) {
    Node map;
    map.kind = Node::Kind::kMap;
    for (const Node& item : entry.value.items) map.entries.insert(map.entries.end(), item.entries.begin(), item.entries.end());
    std::set<std::string> keys;
    for (const Entry& one : map.entries) keys.insert(one.key);
    return keys.empty() || keys.size() < map.entries.size() ? "" : KeyLine(entry.key, FlowText(map));
  }

  bool Expect(const Entry& entry, bool fits, const char* expected) {
    if (!fits)
      errors_->Add(entry.value.mark, fmt::format("sweep.{}: expected {}, got {}", entry.key, expected, Describe(entry.value)),
                   ErrorCode::kOther, Merged(entry));
    return fits;
  }

  // False after an error: the path can be no axis, or is one already.
  bool Claim(const std::string& path, const Mark& mark) {
    if (std::string why = WhyNoAxis(path); !why.empty()) {
      errors_->Add(mark, fmt::format("'{}' cannot be swept: {}", path, why));
      return false;
    }
    auto [other, fresh] = claimed_.emplace(path, mark);
    if (!fresh) errors_->Add(mark, fmt::format("'{}' is set twice, first at {}", path, Place(other->second)));
    return fresh;
  }

  void AddPath(const std::string& path) {
    if (named_.insert(path).second) sweep_.paths.push_back(path);
  }

  const Assigned* Assign(const std::string& path, const Mark& mark, Node value,
                         std::shared_ptr<const Expression> when = nullptr, bool replaces = false) {
    if (sweep_.assigned.size() >= kMaxSweptValues) {
      if (!too_many_values_) {
        errors_->Add(mark, fmt::format("sweep: expected at most {} values, got more; every draw of sweep.random counts",
                                       FormatCount(kMaxSweptValues)));
      }
      too_many_values_ = true;
      return &sweep_.assigned.back();
    }
    return &sweep_.assigned.emplace_back(Assigned{Override{path, mark, false, std::move(value), replaces}, std::move(when)});
  }

  // NULL: the command line has no axis of this path.
  const ShortAxis* FindShort(const std::string& path) {
    auto found = std::find_if(short_.begin(), short_.end(),
                              [&](const ShortAxis& axis) { return axis.point.empty() && axis.path == path; });
    return found == short_.end() ? nullptr : &*found;
  }

  void AddShort(const ShortAxis& axis, std::vector<Axis>* axes) {
    used_.insert(&axis);
    if (!Claim(axis.path, axis.mark)) return;
    AddPath(axis.path);
    axes->push_back(AxisOf(axis, /*replaces=*/false));
  }

  Axis AxisOf(const ShortAxis& axis, bool replaces) {
    Axis values;
    for (const Node& value : axis.values) values.push_back({{Assign(axis.path, axis.mark, value, nullptr, replaces)}, "", 0});
    return values;
  }

  // Replaces a value of the point at the path. A rule of the sweep cannot be replaced like that.
  void AddPointAxis(const ShortAxis& axis) {
    if (std::string why = WhyNoAxis(axis.path); !why.empty()) {
      errors_->Add(axis.mark, fmt::format("'{}' cannot be swept: {}", axis.path, why));
      return;
    }
    for (const Derived& derived : sweep_.derive) {
      if (derived.path != axis.path) continue;
      errors_->Add(axis.mark, fmt::format("'{}' cannot be swept: it is derived at {}", axis.path, Place(derived.mark)));
      return;
    }
    const auto same = [&](const PointAxis& other) {
      return other.point == axis.point && other.axis.front().assigned.front()->override.path == axis.path;
    };
    if (std::any_of(sweep_.point_axes.begin(), sweep_.point_axes.end(), same)) {
      errors_->Add(axis.mark, fmt::format("'{}' is swept twice", axis.path));
      return;
    }
    AddPath(axis.path);
    sweep_.point_axes.push_back({axis.point, axis.mark, AxisOf(axis, /*replaces=*/true)});
  }

  void ReadGrid(const Entry& section) {
    if (!Expect(section, section.value.IsMap(), "a mapping of paths to lists of values")) return;
    for (const Entry& entry : section.value.entries) {
      if (const ShortAxis* axis = FindShort(entry.key)) {
        AddShort(*axis, &grid_);
        continue;
      }
      if (entry.key == "seed" && entry.value.IsList()) {
        errors_->Add(entry.mark, "'seed' cannot be swept: sweep.seeds gives every point the same seeds", ErrorCode::kOther,
                     KeyLine("seeds", FlowText(entry.value)));
        continue;
      }
      AxisValues values = ReadAxisValues(entry.value, entry.key, errors_);
      if (!Claim(entry.key, entry.mark)) continue;
      AddPath(entry.key);
      if (!values.why.empty()) sweep_.whys[entry.key] = values.why;
      Axis axis;
      for (Node& value : values.values) axis.push_back({{Assign(entry.key, entry.mark, std::move(value), values.when)}, "", 0});
      if (!axis.empty()) grid_.push_back(std::move(axis));
    }
  }

  void ReadZip(const Entry& section) {
    if (!Expect(section, section.value.IsMap(), "a mapping of names to mappings of paths to lists of equal length")) return;
    for (const Entry& entry : section.value.entries) {
      if (entry.value.IsMap() && !entry.value.entries.empty()) {
        ReadOneZip(entry);
      } else {
        errors_->Add(entry.value.mark, fmt::format("zip '{}': expected a mapping of paths to lists of equal length, got {}",
                                                   entry.key, Describe(entry.value)));
      }
    }
  }

  void ReadOneZip(const Entry& zip) {
    Axis axis;
    const Entry* first = nullptr;
    for (const Entry& entry : zip.value.entries) {
      if (const ShortAxis* axis_given = FindShort(entry.key)) {
        used_.insert(axis_given);
        errors_->Add(axis_given->mark, fmt::format("'{}' belongs to the zip '{}' at {} and cannot be replaced separately",
                                                   entry.key, zip.key, Place(entry.mark)));
        continue;
      }
      const bool names = entry.key == "name";
      AxisValues values = ReadAxisValues(entry.value, entry.key, errors_);
      if (values.values.empty() || (!names && !Claim(entry.key, entry.mark))) continue;
      if (first && values.values.size() != axis.size()) {
        errors_->Add(entry.mark, fmt::format("zip '{}': expected lists of equal length, but '{}' has {} values and '{}' has {}",
                                             zip.key, entry.key, values.values.size(), first->key, axis.size()));
        continue;
      }
      first = first ? first : &entry;
      axis.resize(values.values.size());
      if (!names) AddPath(entry.key);
      if (!values.why.empty()) sweep_.whys[names ? zip.key : entry.key] = values.why;
      for (size_t i = 0; i < axis.size(); ++i) {
        if (names) {
          axis[i].name = values.values[i].text;
        } else {
          axis[i].assigned.push_back(Assign(entry.key, entry.mark, std::move(values.values[i]), values.when));
        }
      }
    }
    if (!axis.empty()) zip_.push_back(std::move(axis));
  }

  void ReadList(const Entry& section) {
    if (!Expect(section, section.value.IsList(), "a list of points")) return;
    for (const Node& item : section.value.items) {
      if (!item.IsMap()) {
        errors_->Add(item.mark,
                     fmt::format("sweep.list: expected a point such as {{name: before, PATH: VALUE}}, got {}", Describe(item)));
        continue;
      }
      AxisValue point;
      for (const Entry& entry : item.entries) {
        if (entry.key == "name") {
          if (auto name = ReadValue(entry.value, {ValueType::kText, ""}, "name", errors_))
            point.name = name->get<std::string>();
        } else if (entry.key == "why") {
          point.why = ReadReason(entry.value, "why", errors_);
        } else if (std::string why = WhyNoAxis(entry.key); !why.empty()) {
          errors_->Add(entry.mark, fmt::format("'{}' cannot be swept: {}", entry.key, why));
        } else {
          AddPath(entry.key);
          point.assigned.push_back(Assign(entry.key, entry.mark, entry.value));
        }
      }
      sweep_.list.push_back(std::move(point));
    }
    if (section.value.items.empty()) errors_->Add(section.value.mark, "sweep.list: expected at least one point, got none");
  }

  void ReadFiles(const Entry& section) {
    Axis axis = ReadFileAxis(section, &sweep_.files, errors_);
    if (!axis.empty()) files_.push_back(std::move(axis));
  }

  void ReadRandom(const Entry& section) {
    const RandomSection random = ReadRandomSection(section, errors_);
    Axis axis(random.trials);
    for (size_t i = 0; random.space && i < random.space->entries.size(); ++i)
      DrawAll(random.space->entries[i], random.seed, &axis);
    const bool drawn = std::any_of(axis.begin(), axis.end(), [](const AxisValue& value) { return !value.assigned.empty(); });
    if (drawn) random_.push_back(std::move(axis));
  }

  void DrawAll(const Entry& entry, uint64_t seed, Axis* axis) {
    if (const ShortAxis* given = FindShort(entry.key)) {
      AddShort(*given, &grid_);
      return;
    }
    std::optional<Distribution> distribution = Distribution::Read(entry.value, entry.key, errors_);
    if (!Claim(entry.key, entry.mark) || !distribution) return;
    AddPath(entry.key);
    std::vector<const Assigned*> choices;  // shared by all draws: a choice of plugins is looked up once
    for (const Node& choice : distribution->choices())
      choices.push_back(Assign(entry.key, entry.mark, choice, distribution->when()));
    for (size_t draw = 0; draw < axis->size() && !too_many_values_; ++draw) {
      const double uniform = Distribution::Uniform(seed, draw, entry.key);
      (*axis)[draw].assigned.push_back(choices.empty()
                                           ? Assign(entry.key, entry.mark, distribution->Draw(uniform), distribution->when())
                                           : choices[distribution->Choose(uniform)]);
    }
  }

  void ReadDerive(const Entry& section) {
    if (!Expect(section, section.value.IsMap(), "a mapping of paths to expressions")) return;
    if (section.value.entries.size() > kMaxDerived) {
      errors_->Add(section.mark, fmt::format("sweep.derive: the section has {} values, the limit is {}",
                                             FormatCount(section.value.entries.size()), FormatCount(kMaxDerived)));
      return;
    }
    for (const Entry& entry : section.value.entries) {
      std::optional<Expression> expression = Expression::Parse(entry.value, errors_);
      if (const ShortAxis* axis = FindShort(entry.key)) {
        used_.insert(axis);
        errors_->Add(axis->mark, fmt::format("'{}' cannot be swept: it is derived at {}", entry.key, Place(entry.mark)));
        continue;
      }
      if (!Claim(entry.key, entry.mark) || !expression) continue;
      if (ChoosesPlugins(Override{entry.key, entry.mark, false, {}})) {
        errors_->Add(entry.mark,
                     fmt::format("'{}' cannot be derived: plugins are chosen before any value is known", entry.key));
        continue;
      }
      if (entry.key.starts_with("stages.")) {
        errors_->Add(
            entry.mark,
            fmt::format(
                "'{}': cannot derive a value for one stage; `derive` applies to every stage, after the stage's own values",
                entry.key));
        continue;
      }
      AddPath(entry.key);
      sweep_.derive.push_back({entry.key, entry.mark, *std::move(expression)});
    }
  }

  void ReadWhere(const Entry& section) {
    const std::vector<Node> one = {section.value};
    for (const Node& item : section.value.IsList() ? section.value.items : one) {
      if (auto expression = Expression::Parse(item, errors_)) sweep_.where.push_back(*std::move(expression));
    }
  }

  void ReadSeeds(const Entry& section) { sweep_.seeds = ReadSeedsSection(section, errors_); }

  void ReadMemoryAxes(const Entry& section) {
    if (!Expect(section, section.value.IsList(), "a list of paths")) return;
    for (const Node& item : section.value.items) {
      memory_axes_.push_back(item);
      memory_axes_.back().text = WithTodaysName(item.text);
    }
  }

  void CheckMemoryAxes() {
    for (const Node& item : memory_axes_) {
      if (!named_.contains(item.text)) {
        const std::string hint = errors_->WantsHint(item.mark) ? DidYouMean(Nearest(item.text, Candidates(sweep_.paths))) : "";
        errors_->Add(item.mark, fmt::format("memory_axes: this sweep does not set '{}'{}", item.text, hint));
      }
      sweep_.memory_axes.push_back(item.text);
    }
  }

  std::vector<ShortAxis> short_;
  const PathOfName& path_of_;
  Errors* errors_;
  Sweep sweep_;
  std::vector<Axis> grid_, zip_, files_, random_;
  std::map<std::string, Mark> claimed_;
  std::unordered_set<std::string> named_;  // sweep_.paths
  std::set<const ShortAxis*> used_;
  std::vector<Node> memory_axes_;
  bool too_many_values_ = false;
};

}  // namespace

Sweep ReadSweep(const Entry* section, std::vector<ShortAxis> short_axes, Errors* errors, const PathOfName& path_of) {
  return SweepReader(std::move(short_axes), path_of, errors).Read(section);
}

}  // namespace backplane
