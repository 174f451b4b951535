// Access to JSON values by dotted path: "learner.options.lr".
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace backplane {

// Returns null if the path does not exist. A key that contains dots is found too.
inline const nlohmann::json& AtPath(const nlohmann::json& object, const std::string& path) {
  static const nlohmann::json kNothing;
  if (!object.is_object()) return kNothing;
  if (const auto whole = object.find(path); whole != object.end()) return *whole;
  const size_t dot = path.find('.');
  const auto found = dot == std::string::npos ? object.end() : object.find(path.substr(0, dot));
  return found != object.end() ? AtPath(*found, path.substr(dot + 1)) : kNothing;
}

// Creates missing objects on the path and replaces other values on it.
inline void SetAtPath(nlohmann::json* object, const std::string& path, nlohmann::json value) {
  if (!object->is_object()) *object = nlohmann::json::object();
  const size_t dot = path.find('.');
  if (dot == std::string::npos || object->contains(path)) {
    (*object)[path] = std::move(value);
  } else {
    SetAtPath(&(*object)[path.substr(0, dot)], path.substr(dot + 1), std::move(value));
  }
}

// Does nothing if the path does not exist.
inline void RemoveAtPath(nlohmann::json* object, const std::string& path) {
  const size_t dot = path.find('.');
  if (!object->is_object() || object->erase(path) > 0 || dot == std::string::npos) return;
  const auto found = object->find(path.substr(0, dot));
  if (found != object->end()) RemoveAtPath(&*found, path.substr(dot + 1));
}

}  // namespace backplane
