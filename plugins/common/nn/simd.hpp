// Loops written once and compiled for several instruction sets, of which the processor's best runs. A body is a class with
//   template <Isa> static BP_NN_INLINE void Run(args...);
// and is called as Dispatch<Body>(args...). With fused multiply-add the last bits differ between processors, but never between
// threads, calls or row ranges.
#pragma once

#include <cstdint>
#include <cstring>

#define BP_NN_INLINE inline __attribute__((always_inline))

namespace backplane::nn {

// kBf16 extends kAvx512 with sums of products of bfloat16 pairs (bf16.hpp). Only DispatchBf16 runs its bodies.
enum class Isa { kBase, kFma, kAvx512, kBf16 };

// One register of T. The compiler keeps vectors wider than the processor's in memory instead of two registers.
template <Isa isa>
constexpr bool kWide = isa == Isa::kAvx512 || isa == Isa::kBf16;
template <Isa isa>
constexpr int64_t kBytes = kWide<isa>         ? 64
                           : isa == Isa::kFma ? 32
                                              : 16;
template <class T, Isa isa>
struct VecOf {
  typedef T type __attribute__((vector_size(kBytes<isa>)));
};
template <class T, Isa isa>
using Vec = typename VecOf<T, isa>::type;
template <class T, Isa isa>
constexpr int64_t kLanes = kBytes<isa> / sizeof(T);
// Lanes of the widest register, for layouts shared by all instruction sets.
template <class T>
constexpr int64_t kMostLanes = kLanes<T, Isa::kAvx512>;

template <class T, class V>
BP_NN_INLINE void Load(const T* from, V* to) {
  std::memcpy(to, from, sizeof *to);
}
template <class T, class V>
BP_NN_INLINE void Store(const V& from, T* to) {
  std::memcpy(to, &from, sizeof from);
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
inline Isa ThisIsa() {
  static const Isa isa = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma") ? Isa::kAvx512
                         : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")  ? Isa::kFma
                                                                                            : Isa::kBase;
  return isa;
}
template <class Body, class... Args>
__attribute__((target("avx512f,fma"))) void OnAvx512(Args... args) {
  Body::template Run<Isa::kAvx512>(args...);
}
template <class Body, class... Args>
__attribute__((target("avx512f,avx512bw,avx512bf16,fma"))) void DispatchBf16(Args... args) {
  Body::template Run<Isa::kBf16>(args...);
}
template <class Body, class... Args>
__attribute__((target("avx2,fma"))) void OnFma(Args... args) {
  Body::template Run<Isa::kFma>(args...);
}
template <class Body, class... Args>
void Dispatch(Args... args) {
  switch (ThisIsa()) {
    case Isa::kAvx512: return OnAvx512<Body>(args...);
    case Isa::kFma: return OnFma<Body>(args...);
    default: return Body::template Run<Isa::kBase>(args...);
  }
}
inline bool CpuHasBf16() {
  static const bool has =
      ThisIsa() == Isa::kAvx512 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512bf16");
  return has;
}
#else
template <class Body, class... Args>
void Dispatch(Args... args) {
  Body::template Run<Isa::kBase>(args...);
}
inline bool CpuHasBf16() { return false; }
template <class Body, class... Args>
void DispatchBf16(Args... args) {  // never called
  Body::template Run<Isa::kBase>(args...);
}
#endif

}  // namespace backplane::nn
