// Cells of a map, a byte each, written into observations as bytes or as float32.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "nn/simd.hpp"

namespace backplane::uav_grid {

template <class T, int N>
struct LanesOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};

// Copies N cells with one load and store.
template <nn::Isa isa, int N>
BP_NN_INLINE void CopyCells(const int8_t* from, int8_t* out) {
  typename LanesOf<int8_t, N>::type cells;
  nn::Load(from, &cells);
  nn::Store(cells, out);
}
template <nn::Isa isa, int N>
BP_NN_INLINE void CopyCells(const int8_t* from, float* out) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  // GCC 12 makes a dozen instructions of this conversion.
  if constexpr (isa != nn::Isa::kBase && N >= 8) {
    struct Cells {
      int8_t of[N];
    };
    typename LanesOf<int32_t, N>::type whole;
    asm("vpmovsxbd %1, %0" : "=v"(whole) : "m"(*reinterpret_cast<const Cells*>(from)));
    nn::Store(__builtin_convertvector(whole, typename LanesOf<float, N>::type), out);
    return;
  }
#endif
  for (int i = 0; i < N; ++i) out[i] = from[i];
}

// Writes `lines` lines of `width` > 0 cells, `stride` apart, contiguously. A memcpy call per short line would cost more than
// the copies. Lines are copied in pieces instead; the last piece may overlap the one before.
template <nn::Isa isa, int N, class T>
BP_NN_INLINE void CopyLinesBy(const int8_t* from, int64_t stride, int64_t lines, int64_t width, T* out) {
  for (int64_t y = 0; y < lines; ++y, from += stride, out += width) {
    for (int64_t x = 0; x + N < width; x += N) CopyCells<isa, N>(from + x, out + x);
    CopyCells<isa, N>(from + width - N, out + width - N);
  }
}

// The same in one piece per line, for N / 2 <= width <= N. The next line overwrites the cells too many.
template <nn::Isa isa, int N, class T>
BP_NN_INLINE void CopyShortLines(const int8_t* from, int64_t stride, int64_t lines, int64_t width, T* out) {
  for (int64_t y = 0; y + 1 < lines; ++y, from += stride, out += width) CopyCells<isa, N>(from, out);
  CopyLinesBy<isa, N / 2>(from, stride, 1, width, out);
}

// Reads up to Model::kSpareCells behind a line.
template <nn::Isa isa, class T>
BP_NN_INLINE void CopyLines(const int8_t* from, int64_t stride, int64_t lines, int64_t width, T* out) {
  constexpr int64_t kMost = isa == nn::Isa::kAvx512 || sizeof(T) == 1 ? 16 : 8;  // fit a register
  if (width > kMost)
    CopyLinesBy<isa, kMost>(from, stride, lines, width, out);
  else if (2 * width >= kMost)
    CopyShortLines<isa, kMost>(from, stride, lines, width, out);
  else if (width >= 4)
    CopyShortLines<isa, 8>(from, stride, lines, width, out);
  else
    CopyLinesBy<isa, 1>(from, stride, lines, width, out);
}

// n cells, of which no cache keeps a copy: half of the memory traffic, because no line is read before it is written. Before
// another thread reads them, the writer calls FinishStreams.
template <nn::Isa isa>
BP_NN_INLINE void StreamCells(const int8_t* from, int64_t n, float* out) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if constexpr (isa != nn::Isa::kBase) {
    constexpr int64_t kLanes = nn::kLanes<float, isa>;
    int64_t i = 0;
    while (i < n && reinterpret_cast<uintptr_t>(out + i) % nn::kBytes<isa> != 0) CopyCells<isa, 1>(from + i, out + i), ++i;
    for (; i + kLanes <= n; i += kLanes) {
      nn::Vec<float, isa> cells;
      CopyCells<isa, kLanes>(from + i, reinterpret_cast<float*>(&cells));
      asm volatile("vmovntps %1, %0" : "=m"(*reinterpret_cast<nn::Vec<float, isa>*>(out + i)) : "v"(cells));
    }
    for (; i < n; ++i) CopyCells<isa, 1>(from + i, out + i);
    return;
  }
#endif
  for (int64_t i = 0; i < n; ++i) out[i] = from[i];
}
inline void FinishStreams() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

// n zeros, 0 or more. A call of memset for each UAV would cost more.
template <nn::Isa isa, class T>
BP_NN_INLINE void Clear(int64_t n, T* out) {
  constexpr int64_t kLanes = nn::kLanes<T, isa>;
  const nn::Vec<T, isa> zero{};
  if (n < kLanes) {
    for (int64_t i = 0; i < n; ++i) out[i] = 0;
    return;
  }
  for (int64_t i = 0; i + kLanes < n; i += kLanes) nn::Store(zero, out + i);
  nn::Store(zero, out + n - kLanes);
}

}  // namespace backplane::uav_grid
