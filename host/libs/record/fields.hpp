// Records: what one process writes and another reads, each a struct that names its fields once.
//
//   struct Crate {
//     uint64_t apples = 0;
//     std::optional<std::string> label;
//
//     static void Fields(auto& self, auto&& visit) {
//       visit("apples", self.apples);
//       visit("label", self.label);
//     }
//   };
//
// A field is a bool, a number, a std::string, a nlohmann::json, a record, or a std::vector, std::map<std::string, ...> or
// std::optional of such. As JSON:
//   - An optional without a value is left out, and may be missing or null; any other field must be there.
//   - A double that is not finite is null, and null is read as NaN: JSON has no word for it.
//   - Keys that the struct does not name are passed over: a later version may have more.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace backplane {

struct AnyField {
  void operator()(const char*, auto&&) const {}
};
template <class T>
concept Record = requires(T& record) {
  T::Fields(record, AnyField{});
};

// A file that holds no such record: names the field, what was wanted and what was found.
class RecordError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <Record T>
nlohmann::json ToJson(const T& record);
// Throws RecordError.
template <Record T>
T RecordFromJson(const nlohmann::json& json);

namespace record_detail {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
nlohmann::json Encode(const T& value) {
  if constexpr (Record<T>) {
    return ToJson(value);
  } else if constexpr (std::floating_point<T>) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
  } else {
    return value;
  }
}
template <class T>
nlohmann::json Encode(const std::vector<T>& values) {
  nlohmann::json list = nlohmann::json::array();
  for (const T& value : values) list.push_back(Encode(value));
  return list;
}
template <class T>
nlohmann::json Encode(const std::map<std::string, T>& values) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : values) object[key] = Encode(value);
  return object;
}

// Where in the document: "files.metrics_lines", "trials[2].id".
using Place = std::string;

inline std::string Shown(const nlohmann::json& json) {
  constexpr size_t kLongest = 60;
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kLongest) text.replace(kLongest, std::string::npos, "...");
  return text;
}
[[noreturn]] inline void Misfit(const Place& place, const char* wanted, const nlohmann::json& found) {
  throw RecordError((place.empty() ? "" : "\"" + place + "\": ") + "wanted " + wanted + ", found " + Shown(found));
}

template <class T>
void Decode(const Place& place, const nlohmann::json& json, T* value);

template <class T>
void Decode(const Place& place, const nlohmann::json& json, std::vector<T>* values) {
  if (!json.is_array()) Misfit(place, "a list", json);
  values->clear();
  for (const nlohmann::json& item : json) {
    const Place at = place + "[" + std::to_string(values->size()) + "]";
    Decode(at, item, &values->emplace_back());
  }
}
template <class T>
void Decode(const Place& place, const nlohmann::json& json, std::map<std::string, T>* values) {
  if (!json.is_object()) Misfit(place, "an object", json);
  values->clear();
  for (const auto& [key, item] : json.items()) Decode(place + "." + key, item, &(*values)[key]);
}

struct Reader {
  const Place& place;
  const nlohmann::json& json;

  template <class T>
  void operator()(const char* name, T& value) const {
    const Place at = place.empty() ? name : place + "." + name;
    const auto found = json.find(name);
    if constexpr (kIsOptional<T>) {
      value.reset();
      if (found != json.end() && !found->is_null()) Decode(at, *found, &value.emplace());
    } else {
      if (found == json.end()) throw RecordError("\"" + at + "\" is missing");
      Decode(at, *found, &value);
    }
  }
};

template <class T>
void Decode(const Place& place, const nlohmann::json& json, T* value) {
  if constexpr (Record<T>) {
    if (!json.is_object()) Misfit(place, "an object", json);
    T::Fields(*value, Reader{place, json});
  } else if constexpr (std::same_as<T, nlohmann::json>) {
    *value = json;
  } else if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) Misfit(place, "true or false", json);
    *value = json.get<bool>();
  } else if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) Misfit(place, "a text", json);
    *value = json.get<std::string>();
  } else if constexpr (std::floating_point<T>) {
    if (!json.is_number() && !json.is_null()) Misfit(place, "a number", json);
    *value = json.is_null() ? std::numeric_limits<T>::quiet_NaN() : json.get<T>();
  } else {
    static_assert(std::integral<T>, "a record has no field of this type");
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<uint64_t>())
                                                : json.is_number_integer() && std::in_range<T>(json.get<int64_t>());
    if (!fits) Misfit(place, std::unsigned_integral<T> ? "a whole number from 0 on" : "a whole number", json);
    *value = json.get<T>();
  }
}

}  // namespace record_detail

template <Record T>
nlohmann::json ToJson(const T& record) {
  nlohmann::json object = nlohmann::json::object();
  T::Fields(record, [&](const char* name, const auto& value) {
    using Field = std::remove_cvref_t<decltype(value)>;
    if constexpr (record_detail::kIsOptional<Field>) {
      if (value) object[name] = record_detail::Encode(*value);
    } else {
      object[name] = record_detail::Encode(value);
    }
  });
  return object;
}

template <Record T>
T RecordFromJson(const nlohmann::json& json) {
  T record;
  record_detail::Decode("", json, &record);
  return record;
}

}  // namespace backplane
