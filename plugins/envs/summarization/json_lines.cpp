#include <nlohmann/json.hpp>

#include "records.hpp"

namespace backplane::summarization {
namespace {

using nlohmann::json;

class JsonLinesReader : public RecordReader {
 public:
  JsonLinesReader(std::string_view text, const Columns& columns) : text_(text), columns_(columns) {}

  bool Next(Record* out) override {
    std::string_view line;
    do {
      if (at_ >= text_.size()) return false;
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      line = text_.substr(at_, end - at_);
      at_ = end + 1;
      ++line_;
    } while (line.find_first_not_of(" \t\r") == std::string_view::npos);
    out->place = {++row_, line_, ""};
    if (const size_t bad = FindBadUtf8(line); bad != std::string_view::npos)
      throw BadRow(out->place, "byte " + std::to_string(bad + 1) + " is not UTF-8");
    const json object = Parsed(line, out->place);
    if (!object.is_object()) throw BadRow(out->place, std::string("expected a JSON object, got ") + object.type_name());
    if (!columns_.id.empty()) {
      const json& id = Field(object, columns_.id, out->place);
      if (!id.is_primitive())
        throw BadRow(out->place, "'" + columns_.id + "': expected text or a number, got " + id.type_name());
      out->place.id = id.is_string() ? id.get<std::string>() : id.dump();
    }
    out->source = Text(object, columns_.source, out->place);
    out->targets.clear();
    for (const std::string& name : columns_.targets) AddTargets(object, name, out);
    return true;
  }

 private:
  static json Parsed(std::string_view line, const Place& place) {
    try {
      return json::parse(line.begin(), line.end());
    } catch (const json::parse_error& e) {
      throw BadRow(place, "invalid JSON at byte " + std::to_string(e.byte));
    } catch (const json::exception&) {
      throw BadRow(place, "contains a number that is too large");
    }
  }
  static const json& Field(const json& object, const std::string& name, const Place& place) {
    const auto found = object.find(name);
    if (found == object.end()) throw BadRow(place, "has no '" + name + "'");
    return *found;
  }
  static std::string Text(const json& object, const std::string& name, const Place& place) {
    const json& value = Field(object, name, place);
    if (!value.is_string()) throw BadRow(place, "'" + name + "': expected text, got " + value.type_name());
    return value.get<std::string>();
  }
  static void AddTargets(const json& object, const std::string& name, Record* out) {
    const json& value = Field(object, name, out->place);
    if (!value.is_array()) return out->targets.push_back(Text(object, name, out->place));
    if (value.empty()) throw BadRow(out->place, "'" + name + "' is an empty list");
    for (const json& text : value) {
      if (!text.is_string())
        throw BadRow(out->place,
                     "'" + name + "': expected a list of texts, got an entry of type " + std::string(text.type_name()));
      out->targets.push_back(text.get<std::string>());
    }
  }

  std::string_view text_;
  Columns columns_;
  size_t at_ = 0;
  uint64_t row_ = 0, line_ = 0;
};

}  // namespace

std::unique_ptr<RecordReader> ReadJsonLines(std::string_view text, const Columns& columns) {
  return std::make_unique<JsonLinesReader>(text, columns);
}

}  // namespace backplane::summarization
