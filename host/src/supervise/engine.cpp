#include "supervise/engine.hpp"

#include <stdexcept>

#include "supervise/local_engine.hpp"

namespace backplane {
namespace {

struct EngineKind {
  std::string_view name;
  std::unique_ptr<Engine> (*make)(const std::filesystem::path& backplane);
};

constexpr EngineKind kEngines[] = {{kLocalEngine, [](const std::filesystem::path& backplane) -> std::unique_ptr<Engine> {
                                      return std::make_unique<LocalEngine>(backplane);
                                    }}};

}  // namespace

std::unique_ptr<Engine> MakeEngine(const std::string& name, const std::filesystem::path& backplane) {
  std::string known;
  for (const EngineKind& kind : kEngines) {
    if (kind.name == name) return kind.make(backplane);
    known.append(known.empty() ? "" : ", ").append(kind.name);
  }
  throw std::runtime_error("there is no engine '" + name + "'; there is " + known);
}

}  // namespace backplane
