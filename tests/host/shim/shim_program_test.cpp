#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

#include "base/files.hpp"
#include "places.hpp"
#include "shim/shim_protocol.hpp"

namespace backplane {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The loader would find, map and relocate each needed library for every trial.
TEST(ShimProgram, NeedsNoDynamicLinker) {
  const std::string program = ReadFile(std::string(BACKPLANE_BINARY_DIR "/bin/") + kShimProgram).value_or("");
  Elf64_Ehdr header{};
  ASSERT_GT(program.size(), sizeof header);
  std::memcpy(&header, program.data(), sizeof header);
  ASSERT_EQ(0, std::memcmp(header.e_ident, ELFMAG, SELFMAG));
  ASSERT_GT(header.e_phnum, 0);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    std::memcpy(&part, program.data() + header.e_phoff + i * sizeof part, sizeof part);
    EXPECT_NE(static_cast<Elf64_Word>(PT_INTERP), part.p_type);
  }
}
#endif

}  // namespace
}  // namespace backplane
