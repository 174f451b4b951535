// A target with known faults, each opened by a word, to test the fuzz driver. It contains no reader of the product.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "scratch.hpp"

namespace {

// Needs one byte after the other: inputs with one more letter must be kept.
bool IsWord(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (text[i] != word[i]) return false;
    asm volatile("");  // gives each its own block
  }
  return true;
}

int Recurse(int depth) {
  volatile char used[1024];
  used[0] = 1;
  return depth == 0 ? 0 : Recurse(depth + 1) + used[0];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  backplane::fuzz::ScratchFolder();
  if (IsWord(text, "abort")) std::abort();
  if (IsWord(text, "recurse")) return Recurse(1);
  while (IsWord(text, "spin")) {
  }
  if (IsWord(text, "sleep")) sleep(3600);
  if (IsWord(text, "memory")) {
    for (std::vector<std::vector<char>> blocks;;) blocks.emplace_back(16 << 20, 'x');
  }
  return 0;
}
