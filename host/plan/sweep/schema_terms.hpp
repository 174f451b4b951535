// The words of JSON Schema (draft 07), each spelt once. `schema` gets the word.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace backplane::schema {

using nlohmann::json;

inline json With(json schema, const char* word, json value) {
  schema[word] = std::move(value);
  return schema;
}
inline json Only(const char* word, json value) { return With(json::object(), word, std::move(value)); }

inline json Type(const char* name) { return Only("type", name); }
inline json OrNull(json schema) {  // of one with a type
  json types = {schema["type"], "null"};
  return With(std::move(schema), "type", std::move(types));
}
inline json Const(json value) { return Only("const", std::move(value)); }
inline json Enum(json values) { return Only("enum", std::move(values)); }
inline json Count(int least) { return With(Type("integer"), "minimum", least); }
inline json Pattern(const std::string& pattern) { return Only("pattern", pattern); }  // of a key
inline json Text(const char* pattern) { return With(Type("string"), "pattern", pattern); }

inline json List(json items) { return With(Type("array"), "items", std::move(items)); }
inline json AtLeast(int least, json list) { return With(std::move(list), "minItems", least); }
inline json AtMost(int most, json list) { return With(std::move(list), "maxItems", most); }

inline json Properties(json schemas) { return Only("properties", std::move(schemas)); }
inline json Required(std::initializer_list<const char*> keys, json schema = json::object()) {
  return With(std::move(schema), "required", std::vector<std::string>(keys.begin(), keys.end()));
}
// Has the key, with such a value.
inline json Has(const std::string& key, json value) {
  return Required({key.c_str()}, Properties(json::object({{key, std::move(value)}})));
}
// With no other properties.
inline json Closed(json properties) {
  json schema = Properties(std::move(properties));
  schema.update(Type("object"));
  return With(std::move(schema), "additionalProperties", false);
}
inline json MapTo(json values) { return With(Type("object"), "additionalProperties", std::move(values)); }
inline json Keys(json names, json map) { return With(std::move(map), "propertyNames", std::move(names)); }
inline json NotEmpty(json map = json::object()) { return With(std::move(map), "minProperties", 1); }

inline json AnyOf(std::vector<json> schemas) { return Only("anyOf", std::move(schemas)); }
// The same for two; nested alternatives are flattened.
inline json Either(json a, json b) {
  std::vector<json> any;
  for (json* part : {&a, &b}) {
    const auto own = part->size() == 1 ? part->find("anyOf") : part->end();
    if (own == part->end()) {
      any.push_back(std::move(*part));
    } else {
      any.insert(any.end(), own->begin(), own->end());
    }
  }
  return AnyOf(std::move(any));
}
inline json If(json condition, json then) { return With(Only("if", std::move(condition)), "then", std::move(then)); }
inline void AddRule(json rule, json* schema) { (*schema)["allOf"].push_back(std::move(rule)); }

}  // namespace backplane::schema
