#include "rollout/extension_table.hpp"

#include <fmt/format.h>

#include <vector>

#include "rollout/failure.hpp"
#include "rollout/readable.hpp"

namespace backplane {

const void* CheckExtensionTable(const std::string& id, const char* extension, const void* table, uint32_t bytes) {
  if (table == nullptr) return nullptr;
  const auto refuse = [&](const std::string& wanted, const std::string& found) {
    throw TrialFailure(BP_E_INTERNAL, id, fmt::format("extension {}: wanted {}, found {}", extension, wanted, found));
  };
  uint32_t size = 0;
  if (!CopyReadable(&size, table, sizeof size)) refuse("a table of functions", "memory that cannot be read");
  if (size < bytes) refuse(fmt::format("a table of {} bytes or more", bytes), fmt::format("struct_size {}", size));
  constexpr uint32_t kFirst = 8;  // behind struct_size and a number
  std::vector<const void*> functions((bytes - kFirst) / sizeof(void*));
  if (!CopyReadable(functions.data(), static_cast<const char*>(table) + kFirst, bytes - kFirst))
    refuse("a table of functions", "memory that cannot be read");
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i] == nullptr)
      refuse(fmt::format("{} functions", functions.size()), fmt::format("NULL as function {}", i + 1));
  return table;
}

}  // namespace backplane
