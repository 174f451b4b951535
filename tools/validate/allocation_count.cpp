#include "validate/allocation_count.hpp"

#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace backplane {
namespace {

thread_local constinit uint64_t tls_allocations = 0, tls_locks = 0;

void* CountedMalloc(size_t n) { return ++tls_allocations, std::malloc(n); }
void* CountedCalloc(size_t n, size_t size) { return ++tls_allocations, std::calloc(n, size); }
void* CountedRealloc(void* p, size_t n) { return ++tls_allocations, std::realloc(p, n); }
void* CountedAlignedAlloc(size_t alignment, size_t n) { return ++tls_allocations, std::aligned_alloc(alignment, n); }
void* CountedMemalign(size_t alignment, size_t n) { return ++tls_allocations, memalign(alignment, n); }
int CountedPosixMemalign(void** out, size_t alignment, size_t n) {
  return ++tls_allocations, posix_memalign(out, alignment, n);
}
int CountedLock(pthread_mutex_t* mutex) { return ++tls_locks, pthread_mutex_lock(mutex); }

struct Counted {
  std::string_view name;
  uintptr_t function;
};
const Counted kCounted[] = {{"malloc", reinterpret_cast<uintptr_t>(CountedMalloc)},
                            {"calloc", reinterpret_cast<uintptr_t>(CountedCalloc)},
                            {"realloc", reinterpret_cast<uintptr_t>(CountedRealloc)},
                            {"aligned_alloc", reinterpret_cast<uintptr_t>(CountedAlignedAlloc)},
                            {"memalign", reinterpret_cast<uintptr_t>(CountedMemalign)},
                            {"posix_memalign", reinterpret_cast<uintptr_t>(CountedPosixMemalign)},
                            {"pthread_mutex_lock", reinterpret_cast<uintptr_t>(CountedLock)}};

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT, kGlobalData = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobalData = R_AARCH64_GLOB_DAT;
#else
constexpr uint32_t kJumpSlot = 0, kGlobalData = 0;
#endif

struct Tables {
  const Elf64_Rela *jumps = nullptr, *others = nullptr;
  uint64_t jump_bytes = 0, other_bytes = 0;
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
};

// The loader has made addresses of the dynamic section absolute, except in the kernel's libraries.
Tables TablesOf(const dl_phdr_info& library) {
  Tables out;
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    for (const auto* d = reinterpret_cast<const Elf64_Dyn*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
         d->d_tag != DT_NULL; ++d) {
      switch (d->d_tag) {
        case DT_JMPREL: out.jumps = reinterpret_cast<const Elf64_Rela*>(d->d_un.d_ptr); break;
        case DT_PLTRELSZ: out.jump_bytes = d->d_un.d_val; break;
        case DT_RELA: out.others = reinterpret_cast<const Elf64_Rela*>(d->d_un.d_ptr); break;
        case DT_RELASZ: out.other_bytes = d->d_un.d_val; break;
        case DT_SYMTAB: out.symbols = reinterpret_cast<const Elf64_Sym*>(d->d_un.d_ptr); break;
        case DT_STRTAB: out.names = reinterpret_cast<const char*>(d->d_un.d_ptr); break;
        default: break;
      }
    }
  }
  return out;
}

bool IsAbsolute(const void* address, uintptr_t base) { return reinterpret_cast<uintptr_t>(address) >= base; }

void Lead(const Elf64_Rela& entry, const Tables& tables, uintptr_t base) {
  const uint32_t type = ELF64_R_TYPE(entry.r_info);
  if (type != kJumpSlot && type != kGlobalData) return;
  const std::string_view name = tables.names + tables.symbols[ELF64_R_SYM(entry.r_info)].st_name;
  for (const Counted& counted : kCounted) {
    if (name != counted.name) continue;
    auto* slot = reinterpret_cast<uintptr_t*>(base + entry.r_offset);
    const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    void* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(slot) / page_bytes * page_bytes);
    if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0) *slot = counted.function;
  }
}

int LeadLibrary(dl_phdr_info* library, size_t, void*) {
  // The program itself, which holds the counters, comes first and has no name. Skip the loader and the kernel's library.
  const std::string_view file = library->dlpi_name ? library->dlpi_name : "";
  if (file.empty() || file.find("/ld-linux") != file.npos || file.find("vdso") != file.npos ||
      file.find("libc.so") != file.npos)
    return 0;
  const Tables tables = TablesOf(*library);
  const auto base = static_cast<uintptr_t>(library->dlpi_addr);
  if (!tables.symbols || !tables.names || !IsAbsolute(tables.symbols, base)) return 0;
  for (uint64_t i = 0; tables.jumps && i < tables.jump_bytes / sizeof(Elf64_Rela); ++i) Lead(tables.jumps[i], tables, base);
  for (uint64_t i = 0; tables.others && i < tables.other_bytes / sizeof(Elf64_Rela); ++i) Lead(tables.others[i], tables, base);
  return 0;
}

}  // namespace

bool CountAllocations() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr bool kOthersMalloc = true;
#else
  constexpr bool kOthersMalloc = false;
#endif
  if (kOthersMalloc || kJumpSlot == 0) return false;
  dl_iterate_phdr(LeadLibrary, nullptr);
  return true;
}

uint64_t AllocationsOfThread() { return tls_allocations; }
uint64_t LocksOfThread() { return tls_locks; }

}  // namespace backplane
