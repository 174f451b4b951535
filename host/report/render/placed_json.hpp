// One object of a JSON text while it is read. It knows its place, so that a complaint can name it: "sections[2].blocks[0]".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace backplane {

class PlacedJson {
 public:
  // `json` must outlive this object. Throws std::runtime_error if it is no object.
  PlacedJson(const nlohmann::json& json, std::string place);

  bool Has(const std::string& key) const { return json_.contains(key); }
  // All of these throw std::runtime_error for a key that is missing or of another type.
  const nlohmann::json& At(const std::string& key) const;
  std::string Text(const std::string& key) const;
  std::vector<std::string> Texts(const std::string& key) const;
  double Real(const std::string& key) const;  // null is NaN
  int64_t Whole(const std::string& key) const;
  bool Flag(const std::string& key) const;
  PlacedJson Object(const std::string& key) const { return {At(key), PlaceOf(key)}; }
  std::vector<PlacedJson> Objects(const std::string& key) const;

  // For what is wrong with the value of a key.
  [[noreturn]] void Fail(const std::string& key, const std::string& wanted) const;

 private:
  std::string PlaceOf(const std::string& key) const { return place_.empty() ? key : place_ + "." + key; }

  const nlohmann::json& json_;
  std::string place_;
};

}  // namespace backplane
