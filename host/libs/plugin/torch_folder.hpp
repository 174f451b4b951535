// The folders of LibTorch: of `backplane setup torch`, and of the build.
#pragma once

#include <filesystem>
#include <string>

namespace backplane {

// The release that this host and its plugins were built with.
std::string TorchRelease();
// The user's folder for this release. No Python imports from there, so it is independent of any other torch on the machine.
std::filesystem::path OwnTorchFolder();
// The folder that a torch.json contains; empty without the file or without libtorch.so in the folder. Throws PluginError if the
// file is malformed.
std::filesystem::path RecordedTorchLib(const std::filesystem::path& file);

inline constexpr char kSetUpTorch[] =
    "run `backplane setup torch`, or set BACKPLANE_TORCH_LIB to the folder that contains libtorch.so";

}  // namespace backplane
