#include "cli/preset_places.hpp"

#include <cstdlib>

#include "machine/gpus.hpp"
#include "plugin/plugin_search.hpp"

namespace backplane {

std::filesystem::path OwnPresetFolder() { return OwnShare() / "presets"; }

PresetSearch PresetsFor(const FileArgs& args) {
  const auto device = []() -> std::optional<PresetDevice> {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    const std::vector<Gpu> gpus = VisibleGpus(FindGpus(), visible ? std::optional<std::string>(visible) : std::nullopt);
    return gpus.empty() ? std::nullopt : std::optional(PresetDevice{gpus.front().name, gpus.front().memory_bytes});
  };
  return {args.preset, {OwnPresetFolder()}, device};
}

}  // namespace backplane
