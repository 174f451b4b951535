// The options of a plugin, each declared once: a member of a plain struct is its type, its default and its value; a row of a
// table binds a name to it and adds the rest. Part of plugin.hpp, which authors include.
//
//   struct Options {
//     double lr = 3e-4;
//     Schedule lr_schedule = Schedule::kConstant;
//     std::optional<int64_t> chunk;   // of "auto|[1,)": nothing where the word stands
//     void Check(const bp::Config&);  // may be absent: rejects contradictions, and derives values from other options
//   };
//   inline constexpr bp::OptionTable kOptions{
//       bp::Opt("lr", &Options::lr, "(0,)", "Learning rate of Adam", {.aliases = "learning_rate"}),
//       bp::Opt("lr_schedule", &Options::lr_schedule, "linear falls to 0 over the budget", {.reads_budget = "linear"}),
//       bp::Opt("chunk", &Options::chunk, "auto|[1,)", "Rows at a time; auto: all"),
//   };
//   const Options options = kOptions.Read(config);  // an env's layer does it by itself
//
// A member is a double, an integer, a bool, a std::string, a std::filesystem::path, a std::vector of double or int64_t, an enum
// with its words next to it, or a std::optional: of double or int64_t with a word in the range, of bool or an enum with
// `auto`. Values without a fixed form, such as arguments for a library, are a bp::AnyValue.
//
//   enum class Schedule { kConstant, kLinear };
//   constexpr auto WordsOf(Schedule) {
//     return bp::Words<Schedule>({{"constant", Schedule::kConstant}, {"linear", Schedule::kLinear}});
//   }
//
// Rows may bind members of a base of Options, and a table may stand in a larger one: bp::OptionTable{kShared, bp::Opt(...)}.
#pragma once

#include <deque>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "backplane/errors.hpp"
#include "backplane/module.h"
#include "backplane/option_types.hpp"
#include "backplane/signatures.hpp"

namespace bp {

// Rarely used properties: {.unit = "s", .aliases = "n_epochs"}.
struct OptionMore {
  uint16_t flags = 0;
  const char* unit = nullptr;
  const char* aliases = nullptr;
  const char* helps = nullptr;
  const char* reads_budget = nullptr;
};

// The table of a plugin without options.
struct NoOptions {};

namespace detail {

// The C table of all options, which points into texts that it owns.
class ParamList {
 public:
  ParamList() = default;
  ParamList(ParamList&&) = default;  // keeps the addresses of the texts
  // Copies `def` and `range`; the other texts must live as long as the program.
  void Add(bp_param param, const std::string& def, const std::string& range = "") {
    if (!(param.flags & BP_PARAM_REQUIRED)) param.def = Keep(def);
    if (!range.empty()) param.range = Keep(range);
    params_.push_back(param);
  }
  const char* Keep(const std::string& text) { return texts_.emplace_back(text).c_str(); }
  const std::vector<bp_param>& params() const { return params_; }

 private:
  std::deque<std::string> texts_;
  std::vector<bp_param> params_;
};

constexpr bp_param Row(uint16_t type, const char* path, const char* range, const char* doc, const OptionMore& more) {
  return {sizeof(bp_param), type, more.flags,   path,       nullptr,          range,
          more.unit,        doc,  more.aliases, more.helps, more.reads_budget};
}

// A row of a table, bound to a member.
template <class S, class M>
struct BoundOption {
  using Struct = S;
  using Kind = OptionKind<M>;

  void Describe(const S& defaults, ParamList* out) const {
    std::string range;
    if constexpr (requires { Kind::Range(); }) range = row.range ? "" : Kind::Range();
    out->Add(row, Kind::Text(defaults.*member, row), range);
  }
  void Read(const Config& config, S* out) const { out->*member = Kind::Read(config, row.path); }

  bp_param row;  // without default
  M S::*member;
};

// A row without a member.
template <class T>
struct UnboundOption {
  using Struct = NoOptions;
  using Value = std::conditional_t<std::is_convertible_v<T, const char*>, std::string, T>;

  template <class S>
  void Describe(const S&, ParamList* out) const {
    out->Add(row, YamlText(Value(def)));
  }
  template <class S>
  void Read(const Config&, S*) const {}

  bp_param row;
  T def;
};

template <class... Options>
struct MostDerived {
  using Type = NoOptions;
};
template <class A, class... Rest>
struct MostDerived<A, Rest...> {
  using B = typename MostDerived<Rest...>::Type;
  using Type = std::conditional_t<std::is_base_of_v<A, B> || std::is_same_v<A, NoOptions>, B, A>;
};

BP_NAMED(Check)

}  // namespace detail

// An option bound to a member. Without `range` any value is valid, or any word of an enum; a range that lists some of the
// words, "constant|linear", allows only these. A text with a range is one of its words.
template <class S, class M>
constexpr detail::BoundOption<S, M> Opt(const char* path, M S::*member, const char* range, const char* doc,
                                        OptionMore more = {}) {
  const bool is_word = std::is_same_v<M, std::string> && range;
  return {detail::Row(is_word ? uint16_t{BP_PARAM_ENUM} : detail::OptionKind<M>::kType, path, range, doc, more), member};
}
template <class S, class M>
constexpr detail::BoundOption<S, M> Opt(const char* path, M S::*member, const char* doc, OptionMore more = {}) {
  return Opt(path, member, nullptr, doc, more);
}

// An option that the plugin does not read: another name of a host key (an alias with a dot), or a name that is accepted for
// compatibility with other programs' files. It has the type of its default.
template <class T>
constexpr detail::UnboundOption<T> Unread(const char* path, T def, const char* range, const char* doc, OptionMore more = {}) {
  uint16_t type = BP_PARAM_STR;
  if constexpr (!std::is_convertible_v<T, const char*>)
    type = detail::OptionKind<T>::kType;
  else if (range)
    type = BP_PARAM_ENUM;
  return {detail::Row(type, path, range, doc, more), def};
}
template <class T>
constexpr detail::UnboundOption<T> Unread(const char* path, T def, const char* doc, OptionMore more = {}) {
  return Unread(path, def, nullptr, doc, more);
}

// All options of a plugin, in display order.
template <class... Rows>
class OptionTable {
 public:
  // The struct whose members its rows bind, constructed with the default values.
  using Struct = typename detail::MostDerived<typename Rows::Struct...>::Type;

  constexpr explicit OptionTable(Rows... rows) : rows_(rows...) {}

  // Throws bp::Error, including BP_E_CONFIG from Struct::Check.
  Struct Read(const Config& config) const {
    Struct options;
    Read(config, &options);
    if constexpr (requires { options.Check(config); }) {
      options.Check(config);
    } else {
      static_assert(!detail::Names_Check<Struct>,
                    "Check of a plugin's options should be: void Check(const bp::Config&), public");
    }
    return options;
  }
  void Read(const Config& config, Struct* out) const {
    std::apply([&](const Rows&... row) { (row.Read(config, out), ...); }, rows_);
  }
  detail::ParamList Params() const {
    static_assert(((std::is_base_of_v<typename Rows::Struct, Struct> || std::is_same_v<typename Rows::Struct, NoOptions>)&&...),
                  "the options of a table should be members of one struct or of its bases");
    detail::ParamList params;
    Describe(Struct{}, &params);
    return params;
  }
  void Describe(const Struct& defaults, detail::ParamList* out) const {
    std::apply([&](const Rows&... row) { (row.Describe(defaults, out), ...); }, rows_);
  }

 private:
  std::tuple<Rows...> rows_;
};

// The struct bound by P::kOptions and its values; empty for a class without a table.
template <class P>
auto ReadOptions([[maybe_unused]] const Config& config) {
  if constexpr (requires { P::kOptions; })
    return P::kOptions.Read(config);
  else
    return NoOptions{};
}
template <class P>
using OptionsOf = decltype(ReadOptions<P>(std::declval<const Config&>()));

}  // namespace bp
