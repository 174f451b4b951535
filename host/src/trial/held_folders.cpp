#include "trial/held_folders.hpp"

#include "base/held_folder.hpp"

namespace backplane {
namespace {

// Never destroyed: a plugin's exit() may want to write a result after the destructors of this file have run.
const HeldFolder* g_trial = nullptr;
const HeldFolder* g_attempt = nullptr;

}  // namespace

void HoldFolders(const std::filesystem::path& attempt_dir, const std::filesystem::path& checkpoint_dir) {
  g_trial = new HeldFolder(checkpoint_dir.parent_path());
  g_attempt = new HeldFolder(attempt_dir);
}

std::filesystem::path WhereHeld(const std::filesystem::path& folder) {
  if (g_attempt != nullptr && folder == g_attempt->name()) return g_attempt->Now();
  if (g_trial != nullptr && folder.parent_path() == g_trial->name()) return g_trial->Now() / folder.filename();
  return folder;
}

}  // namespace backplane
