// One LibTorch per process, loaded before any plugin.
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/files.hpp"
#include "plugin/loader.hpp"
#include "plugin/torch_folder.hpp"

namespace backplane {

std::string TorchVersionAt(const std::filesystem::path& lib_dir) {
  if (lib_dir.empty()) return "";
  const std::filesystem::path lib = lib_dir.lexically_normal(),
                              root = (lib.has_filename() ? lib : lib.parent_path()).parent_path();
  std::string line;
  // `__version__ = '2.13.0+cpu'` in the wheel, or a single line in the C++ distribution.
  for (std::ifstream in = OpenStream(root / "version.py"); std::getline(in, line);) {
    const size_t begin = line.find_first_of("'\""), end = line.find_last_of("'\"");
    if (line.starts_with("__version__") && begin < end) return line.substr(begin + 1, end - begin - 1);
  }
  std::string version;
  OpenStream(root / "build-version") >> version;
  return version;
}

std::string PreloadTorch(const std::filesystem::path& lib_dir) {
  // A second copy with the same library name would silently not be loaded, or fail by load order.
  static std::filesystem::path loaded;
  const std::filesystem::path wanted = std::filesystem::weakly_canonical(lib_dir);
  if (!loaded.empty() && loaded != wanted) {
    throw PluginError("this process already uses the LibTorch in " + loaded.string() + ", so it cannot load the one in " +
                      wanted.string());
  }
  const std::string version = TorchVersionAt(wanted);
  if (version.empty())
    throw PluginError("LibTorch in " + wanted.string() + " has no version: expected version.py or build-version in " +
                      wanted.parent_path().string());
  // Each by its path, because LD_LIBRARY_PATH would answer the names in libtorch.so before its own folder does.
  for (const char* name : {"libc10.so", "libtorch_cpu.so", "libc10_cuda.so", "libtorch_cuda.so", "libtorch.so"}) {
    const std::filesystem::path library = wanted / name;
    const bool is_required = std::string_view(name) == "libtorch.so";
    if ((is_required || std::filesystem::exists(library)) && !dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL))
      throw PluginError("LibTorch cannot be loaded from " + wanted.string() + ": " + dlerror());
  }
  loaded = wanted;
  return version;
}

std::string TorchRelease() { return BACKPLANE_TORCH_RELEASE; }

std::filesystem::path OwnTorchFolder() {
  const char *data = std::getenv("XDG_DATA_HOME"), *home = std::getenv("HOME");
  const std::filesystem::path folder = data && *data ? data : std::filesystem::path(home ? home : "/") / ".local/share";
  return folder / "backplane" / ("torch-" + TorchRelease());
}

std::filesystem::path RecordedTorchLib(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) return {};
  const nlohmann::json facts = nlohmann::json::parse(in, nullptr, false);
  const auto lib = facts.find("lib");
  if (lib == facts.end() || !lib->is_string()) {
    throw PluginError(file.string() +
                      ": expected {\"lib\": \"FOLDER OF libtorch.so\", ...}; write it again with `backplane setup torch`");
  }
  const std::filesystem::path folder = lib->get<std::string>();
  std::error_code error;
  return std::filesystem::exists(folder / "libtorch.so", error) ? folder : std::filesystem::path();
}

std::filesystem::path FindTorchLib() {
  if (const char* from_env = std::getenv("BACKPLANE_TORCH_LIB"); from_env && *from_env) return from_env;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const std::filesystem::path prefix = program.parent_path().parent_path();
  const std::filesystem::path recorded = RecordedTorchLib(prefix / "lib/backplane/torch.json");
  if (!recorded.empty()) return recorded;
  const std::filesystem::path own = OwnTorchFolder() / "torch/lib";
  return std::filesystem::exists(own / "libtorch.so", error) ? own : std::filesystem::path();
}

}  // namespace backplane
