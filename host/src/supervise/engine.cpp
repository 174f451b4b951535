#include "supervise/engine.hpp"

#include <stdexcept>

#include "supervise/local_engine.hpp"

namespace backplane {
namespace {

struct EngineKind {
  std::string_view name;
  std::unique_ptr<Engine> (*make)(const std::filesystem::path& backplane);
};

template <class E>
std::unique_ptr<Engine> Make(const std::filesystem::path& backplane) {
  return std::make_unique<E>(backplane);
}

constexpr EngineKind kEngines[] = {{kLocalEngine, Make<LocalEngine>}};

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
