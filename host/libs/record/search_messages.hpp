// The messages of a search (SearchMessage in record/event.hpp), as far as this program reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/fields.hpp"

namespace backplane {

// A request but for `open`.
struct SearchRequest {
  std::string op;
  std::optional<uint64_t> number, step;
  std::optional<double> value, at_end;
  std::string state;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("op", DefaultIfMissing(self.op));
    visit("number", self.number);
    visit("step", self.step);
    visit("value", self.value);
    visit("at_end", self.at_end);
    visit("state", DefaultIfMissing(self.state));
  }
};

// `open`.
struct SearchOpening {
  std::string name, method = "search", metric, direction;
  nlohmann::json space;  // {path: distribution}, for ReadSearchSpace

  bool maximize() const { return direction != "minimize"; }

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("method", self.method);
    visit("metric", self.metric);
    visit("direction", self.direction);
    visit("space", self.space);
  }
};

// A reply of any kind; null: it has no such key.
struct SearchReply {
  nlohmann::json error, missing;  // instead of the others; `missing`: the package that is not installed
  nlohmann::json number, params, prune, version;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("error", self.error);
    visit("missing", self.missing);
    visit("number", self.number);
    visit("params", self.params);
    visit("prune", self.prune);
    visit("version", self.version);
  }
};

}  // namespace backplane
