#include "render/placed_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "base/json_text.hpp"

namespace backplane {

PlacedJson::PlacedJson(const nlohmann::json& json, std::string place) : json_(json), place_(std::move(place)) {
  if (!json_.is_object()) {
    throw std::runtime_error(
        fmt::format("report: {} should be an object, found {}", place_.empty() ? "the file" : place_, json_.type_name()));
  }
}

const nlohmann::json& PlacedJson::At(const std::string& key) const {
  const auto found = json_.find(key);
  if (found == json_.end()) {
    throw std::runtime_error(fmt::format("report: {} is missing", PlaceOf(key)));
  }
  return *found;
}

void PlacedJson::Fail(const std::string& key, const std::string& wanted) const {
  std::string found = JsonText(At(key));
  if (found.size() > 60) {
    found = std::string("a value of type ") + At(key).type_name();
  }
  throw std::runtime_error(fmt::format("report: {} should be {}, found {}", PlaceOf(key), wanted, found));
}

std::string PlacedJson::Text(const std::string& key) const {
  if (!At(key).is_string()) {
    Fail(key, "a text");
  }
  return At(key).get<std::string>();
}

std::vector<std::string> PlacedJson::Texts(const std::string& key) const {
  std::vector<std::string> texts;
  if (!At(key).is_array()) {
    Fail(key, "a list of texts");
  }
  for (const nlohmann::json& one : At(key)) {
    if (!one.is_string()) {
      Fail(key, "a list of texts");
    }
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

double PlacedJson::Real(const std::string& key) const {
  if (At(key).is_null()) {
    return NAN;
  }
  if (!At(key).is_number()) {
    Fail(key, "a number");
  }
  return At(key).get<double>();
}

int64_t PlacedJson::Whole(const std::string& key) const {
  if (!At(key).is_number_integer()) {
    Fail(key, "a whole number");
  }
  return At(key).get<int64_t>();
}

bool PlacedJson::Flag(const std::string& key) const {
  if (!At(key).is_boolean()) {
    Fail(key, "true or false");
  }
  return At(key).get<bool>();
}

std::vector<PlacedJson> PlacedJson::Objects(const std::string& key) const {
  std::vector<PlacedJson> objects;
  if (!At(key).is_array()) {
    Fail(key, "a list");
  }
  for (const nlohmann::json& one : At(key)) {
    objects.emplace_back(one, fmt::format("{}[{}]", PlaceOf(key), objects.size()));
  }
  return objects;
}

}  // namespace backplane
