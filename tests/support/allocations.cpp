#include "support/allocations.hpp"

#include <atomic>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
uint64_t Allocations() { return 0; }
#else
// The program's definitions come first in symbol lookup, so libraries loaded later call these too.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}
static std::atomic<uint64_t> calls{0};
extern "C" void* malloc(size_t n) { return ++calls, __libc_malloc(n); }
extern "C" void* calloc(size_t n, size_t m) { return ++calls, __libc_calloc(n, m); }
extern "C" void* realloc(void* p, size_t n) { return ++calls, __libc_realloc(p, n); }
extern "C" void* aligned_alloc(size_t a, size_t n) { return ++calls, __libc_memalign(a, n); }
uint64_t Allocations() { return calls; }
#endif
