// Records: data that one process writes and another reads, each a struct that names its fields once.
//
//   struct Crate {
//     uint64_t apples = 0;
//     std::optional<std::string> label;
//
//     static constexpr void Fields(auto& self, auto&& visit) {
//       visit("apples", self.apples);
//       visit("label", self.label);
//     }
//   };
//
// A field is a bool, a number, a std::string, a path, an enum with words (record/words.hpp), a nlohmann::json, a record, or a
// std::vector, std::array, std::map<std::string, ...> or std::optional of such; a std::vector of pairs with a std::string is an
// object that keeps its order. As JSON:
//   - An optional without a value is left out, and may be missing or null; any other field must be there. The wrappers
//     below say otherwise.
//   - A double that is not finite is null, and null is read as NaN: JSON has no word for it.
//   - Keys that the struct does not name are passed over: a later version may have more.
// In ordered_json, fields stand in the order in which they are named.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "record/field_wrappers.hpp"
#include "record/words.hpp"

namespace backplane {

// A record within a record that derives from it.
template <class T, class Derived>
constexpr auto& Base(Derived& record) {
  return static_cast<std::conditional_t<std::is_const_v<Derived>, const T, T>&>(record);
}

struct AnyField {
  constexpr void operator()(const char*, auto&&) const {}
};
template <class T>
concept Record = requires(T& record) {
  T::Fields(record, AnyField{});
};

// The file does not contain such a record: names the field, the expected and the found value.
class RecordError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class Json = nlohmann::json, Record T>
Json ToJson(const T& record);
// Throws RecordError.
template <Record T, class Json>
T RecordFromJson(const Json& json);
// Absent if `json` is no such record.
template <Record T, class Json>
std::optional<T> RecordOrNothing(const Json& json);
// For files that plugin code may have written: a missing or misfitting field keeps its default, misfitting items of lists and
// maps are skipped.
template <Record T>
T ReadTolerantly(const nlohmann::json& json);

// Writes the record's fields over those in `object`; its other keys stay.
template <Record T>
void Overwrite(const T& record, nlohmann::json* object);
// Writes only those that `object` lacks.
template <Record T>
void FillIn(const T& record, nlohmann::json* object);

namespace record_detail {

template <template <class...> class Template, class T>
inline constexpr bool kIsA = false;
template <template <class...> class Template, class... Args>
inline constexpr bool kIsA<Template, Template<Args...>> = true;

template <class T>
inline constexpr bool kIsOptional = kIsA<std::optional, T>;

template <class Json, class T>
Json Encode(const T& value) {
  if constexpr (Record<T>) {
    return ToJson<Json>(value);
  } else if constexpr (HasWords<T>) {
    return Word(value);
  } else if constexpr (std::floating_point<T>) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  } else if constexpr (std::same_as<T, std::filesystem::path>) {
    return value.string();
  } else if constexpr (kIsA<std::map, T>) {
    Json object = Json::object();
    for (const auto& [key, item] : value) object[key] = Encode<Json>(item);
    return object;
  } else if constexpr (kIsA<std::vector, T>) {
    if constexpr (kIsA<std::pair, typename T::value_type>) {
      Json object = Json::object();
      for (const auto& [key, item] : value) object[key] = Encode<Json>(item);
      return object;
    } else {
      Json list = Json::array();
      for (const auto& item : value) list.push_back(Encode<Json>(item));
      return list;
    }
  } else {
    return value;
  }
}

template <class Json>
struct Writer {
  Json& object;

  template <class T>
  void operator()(const char* name, const T& value) const {
    if constexpr (!kIsOptional<T>) {
      object[name] = Encode<Json>(value);
    } else if (value) {
      object[name] = Encode<Json>(*value);
    }
  }
  template <class T>
  void operator()(const char* name, NullIfAbsent<T> field) const {
    object[name] = field.value ? Encode<Json>(*field.value) : Json(nullptr);
  }
  template <class T>
  void operator()(const char* name, NaNIfNull<T> field) const {
    (*this)(name, field.value);
  }
  template <class T>
  void operator()(const char* name, DefaultIfMissing<T> field) const {
    object[name] = Encode<Json>(field.value);
  }
  template <class T>
  void operator()(const char* name, AbsentIfMisfit<T> field) const {
    (*this)(name, field.value);
  }
  template <class T>
  void operator()(const char* name, LeftOutIfEmpty<T> field) const {
    if (field.value != std::remove_cv_t<T>{}) object[name] = Encode<Json>(field.value);
  }
};

// Place in the document: "files.metrics_lines", "trials[2].id".
using Place = std::string;

template <class Json>
std::string Shown(const Json& json) {
  constexpr size_t kLongest = 60;
  // Name containers instead of dumping them, because their depth and size are unbounded.
  if (json.is_structured() && !json.empty()) return json.is_array() ? "a list" : "an object";
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLongest) text.replace(kLongest, std::string::npos, "...");
  return text;
}
template <class Json>
[[noreturn]] void Misfit(const Place& place, const std::string& expected, const Json& found) {
  throw RecordError((place.empty() ? "" : "\"" + place + "\": ") + "expected " + expected + ", got " + Shown(found));
}

template <bool kTolerant, class Json>
struct Reader {
  const Place& place;
  const Json& json;

  template <class T>
  void operator()(const char* name, T& value) const {
    if constexpr (kIsOptional<T>) {
      Read(name, &value, /*may_be_missing=*/true);
    } else {
      Read(name, &value, kTolerant);
    }
  }
  template <class T>
  void operator()(const char* name, NullIfAbsent<T> field) const {
    Read(name, &field.value, /*may_be_missing=*/true);
  }
  template <class T>
  void operator()(const char* name, NaNIfNull<T> field) const {
    Read(name, &field.value, /*may_be_missing=*/true);
    if (const auto found = json.find(name); found != json.end() && found->is_null()) field.value = std::nan("");
  }
  template <class T>
  void operator()(const char* name, DefaultIfMissing<T> field) const {
    Read(name, &field.value, /*may_be_missing=*/true);
  }
  template <class T>
  void operator()(const char* name, AbsentIfMisfit<T> field) const {
    try {
      Read(name, &field.value, /*may_be_missing=*/true);
    } catch (const RecordError&) {
      field.value.reset();
    }
  }
  template <class T>
  void operator()(const char* name, LeftOutIfEmpty<T> field) const {
    Read(name, &field.value, /*may_be_missing=*/true);
  }

 private:
  template <class T>
  void Read(const char* name, T* value, bool may_be_missing) const;
};

// Throws RecordError.
template <bool kTolerant, class Json, class T>
void Decode(const Place& place, const Json& json, T* value);

// False if it does not fit, and that is tolerated.
template <bool kTolerant, class Json, class T>
bool DecodeItem(const Place& place, const Json& json, T* value) {
  if constexpr (!kTolerant) {
    Decode<kTolerant>(place, json, value);
    return true;
  } else {
    try {
      Decode<kTolerant>(place, json, value);
      return true;
    } catch (const RecordError&) {
      return false;
    }
  }
}

template <bool kTolerant, class Json, class T>
void DecodeList(const Place& place, const Json& json, std::vector<T>* values) {
  if (!json.is_array()) Misfit(place, "a list", json);
  values->clear();
  size_t i = 0;
  for (const Json& item : json) {
    T value{};
    if (DecodeItem<kTolerant>(place + "[" + std::to_string(i++) + "]", item, &value)) values->push_back(std::move(value));
  }
}

template <bool kTolerant, class Json, class T>
void DecodeObject(const Place& place, const Json& json, auto&& add) {
  if (!json.is_object()) Misfit(place, "an object", json);
  for (const auto& [key, item] : json.items()) {
    T value{};
    if (DecodeItem<kTolerant>(place + "." + key, item, &value)) add(key, std::move(value));
  }
}

// A list of pairs is an object that keeps its order.
template <bool kTolerant, class Json, class T>
void DecodeList(const Place& place, const Json& json, std::vector<std::pair<std::string, T>>* values) {
  values->clear();
  DecodeObject<kTolerant, Json, T>(
      place, json, [&](const std::string& key, auto&& item) { values->emplace_back(key, std::forward<decltype(item)>(item)); });
}

template <class Json, class T>
void DecodeScalar(const Place& place, const Json& json, T* value) {
  if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) Misfit(place, "true or false", json);
    *value = json.template get<bool>();
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::filesystem::path>) {
    if (!json.is_string()) Misfit(place, "a text", json);
    *value = json.template get<std::string>();
  } else if constexpr (std::floating_point<T>) {
    if (!json.is_number() && !json.is_null()) Misfit(place, "a number", json);
    *value = json.is_null() ? std::numeric_limits<T>::quiet_NaN() : json.template get<T>();
  } else {
    static_assert(std::integral<T>, "a record has no field of this type");
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.template get<uint64_t>())
                                                : json.is_number_integer() && std::in_range<T>(json.template get<int64_t>());
    if (!fits) Misfit(place, std::unsigned_integral<T> ? "a whole number from 0 on" : "a whole number", json);
    *value = json.template get<T>();
  }
}

template <class Json, class T>
void DecodeWord(const Place& place, const Json& json, T* value) {
  const auto word = json.is_string() ? FromWord<T>(json.template get<std::string>()) : std::nullopt;
  if (!word) Misfit(place, "one of " + ListOfWords<T>(), json);
  *value = *word;
}

template <bool kTolerant, class Json, class T>
void Decode(const Place& place, const Json& json, T* value) {
  if constexpr (Record<T>) {
    if constexpr (requires { value->ReadNumber(0.0); }) {
      if (json.is_number()) return value->ReadNumber(json.template get<double>());
    }
    if (!json.is_object()) Misfit(place, "an object", json);
    T::Fields(*value, Reader<kTolerant, Json>{place, json});
    if constexpr (requires { value->AfterReading(); }) value->AfterReading();
  } else if constexpr (HasWords<T>) {
    DecodeWord(place, json, value);
  } else if constexpr (kIsA<std::map, T>) {
    value->clear();
    DecodeObject<kTolerant, Json, typename T::mapped_type>(place, json, [&](const std::string& key, auto&& item) {
      value->insert_or_assign(key, std::forward<decltype(item)>(item));
    });
  } else if constexpr (kIsA<std::vector, T>) {
    DecodeList<kTolerant>(place, json, value);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    if (!json.is_array() || json.size() != value->size()) Misfit(place, "a list of " + std::to_string(value->size()), json);
    for (size_t i = 0; i < value->size(); ++i) Decode<kTolerant>(place + "[" + std::to_string(i) + "]", json[i], &(*value)[i]);
  } else if constexpr (std::same_as<T, nlohmann::json>) {
    *value = json;
  } else {
    DecodeScalar(place, json, value);
  }
}

template <bool kTolerant, class Json>
template <class T>
void Reader<kTolerant, Json>::Read(const char* name, T* value, bool may_be_missing) const {
  const auto found = json.find(name);
  if constexpr (kIsOptional<T>) {
    value->reset();
    if (found == json.end() || found->is_null()) return;
    if (!DecodeItem<kTolerant>(place.empty() ? name : place + "." + name, *found, &value->emplace())) value->reset();
  } else {
    const Place at = place.empty() ? name : place + "." + name;
    if (found == json.end() && may_be_missing) return;
    if (found == json.end()) throw RecordError("\"" + at + "\" is missing");
    // Null only means NaN; for an optional field it means absence.
    if (found->is_null() && may_be_missing && !std::floating_point<T> && !std::same_as<T, nlohmann::json>) return;
    T read = *value;
    if (DecodeItem<kTolerant>(at, *found, &read)) *value = std::move(read);
  }
}

}  // namespace record_detail

template <class Json, Record T>
Json ToJson(const T& record) {
  Json object = Json::object();
  T::Fields(record, record_detail::Writer<Json>{object});
  return object;
}

template <Record T, class Json>
T RecordFromJson(const Json& json) {
  T record;
  record_detail::Decode<false>("", json, &record);
  return record;
}

template <Record T, class Json>
std::optional<T> RecordOrNothing(const Json& json) {
  try {
    return RecordFromJson<T>(json);
  } catch (const RecordError&) {
    return std::nullopt;
  }
}

template <Record T>
T ReadTolerantly(const nlohmann::json& json) {
  T record;
  record_detail::DecodeItem<true>("", json, &record);
  return record;
}

// For nlohmann's own conversions: json = record.
template <Record T>
void to_json(nlohmann::json& json, const T& record) {
  json = ToJson(record);
}

template <Record T>
void Overwrite(const T& record, nlohmann::json* object) {
  T::Fields(record, record_detail::Writer<nlohmann::json>{*object});
}

template <Record T>
void FillIn(const T& record, nlohmann::json* object) {
  nlohmann::json fields = ToJson(record);
  object->insert(fields.begin(), fields.end());
}

}  // namespace backplane
