// SHA-256, which names trials and tells whether a file is the one that it was.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct SHA256state_st;  // of libcrypto

namespace backplane {

// A hash of what comes piece by piece.
class Sha256Digest {
 public:
  Sha256Digest();
  ~Sha256Digest();
  void Add(const void* data, size_t size);
  // Of all that was added; each ends the digest.
  std::array<unsigned char, 32> Bytes();
  std::string Hex();

 private:
  std::unique_ptr<SHA256state_st> state_;
};

// 64 lower-case hex digits. The file form throws std::runtime_error if the file cannot be read.
std::string Sha256(std::string_view text);
std::string Sha256OfFile(const std::filesystem::path& file);

}  // namespace backplane
