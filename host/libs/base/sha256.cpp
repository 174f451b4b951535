#include "base/sha256.hpp"

// Uses the functions below EVP, which OpenSSL 3 discourages. The first digest through EVP loads the library's configuration and
// all its names, 5 million instructions, in every process of a batch.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "base/files.hpp"

namespace backplane {

Sha256Digest::Sha256Digest() : state_(new SHA256state_st) { SHA256_Init(state_.get()); }

Sha256Digest::~Sha256Digest() = default;

void Sha256Digest::Add(const void* data, size_t size) { SHA256_Update(state_.get(), data, size); }

std::array<unsigned char, 32> Sha256Digest::Bytes() {
  std::array<unsigned char, 32> bytes{};
  SHA256_Final(bytes.data(), state_.get());
  return bytes;
}

std::string Sha256Digest::Hex() {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : Bytes()) hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  return hex;
}

std::string Sha256(std::string_view text) {
  Sha256Digest digest;
  digest.Add(text.data(), text.size());
  return digest.Hex();
}

std::string Sha256OfFile(const std::filesystem::path& file) {
  std::string why_not;
  const int fd = OpenRegularFile(file, &why_not);
  if (fd < 0) {
    throw std::runtime_error("cannot read " + file.string() + ": " + why_not);
  }
  Sha256Digest digest;
  char block[65536];
  ssize_t n = 0;
  while ((n = read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) digest.Add(block, static_cast<size_t>(n));
  }
  const int error = errno;
  close(fd);
  if (n < 0) throw std::runtime_error("cannot read " + file.string() + ": " + std::strerror(error));
  return digest.Hex();
}

}  // namespace backplane
