#include "nn/matrix.hpp"

#include <algorithm>
#include <type_traits>

#include "nn/bf16.hpp"
#include "nn/simd.hpp"

namespace backplane::nn {
namespace {

template <class T>
constexpr int64_t kPanel = 2 * kMostLanes<T>;

// c = start + a b. a(i, p) is at a[i * a_row + p * a_k], the start of c(i, j) at start[i * start_row + j * start_column].
template <class T>
struct Product {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_k;
  const T* b;  // packed
  const T* start;
  int64_t start_row, start_column;
  T* c;
  int64_t c_row;
};

// sum += factor * x for each lane of x. kBf16: each lane and the factor are a word of two.
template <Isa isa, class T, class V>
BP_NN_INLINE void AddProduct(const T* factor, const V& x, V* sum) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if constexpr (isa == Isa::kBf16) {
    typedef int32_t Words __attribute__((vector_size(kBytes<isa>)));
    int32_t word;
    std::memcpy(&word, factor, sizeof word);
    const Words words = Words{} + word;
    V added = *sum;
    asm("vdpbf16ps %2, %1, %0" : "+v"(added) : "v"(x), "v"(words));
    *sum = added;
    return;
  }
#endif
  *sum += *factor * x;
}

// R rows by W vectors of columns, held in registers from the first product to the last.
template <class T, Isa isa, int R, int W>
BP_NN_INLINE void Tile(const T* a, int64_t a_row, int64_t a_k, const T* b, int64_t k, const T* start, int64_t start_row, T* c,
                       int64_t c_row) {
  constexpr int64_t kWidth = kLanes<T, isa>;
  Vec<T, isa> sum[R][W], x[W];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) Load(start + r * start_row + w * kWidth, &sum[r][w]);
  }
  for (int64_t p = 0; p < k; ++p) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) Load(b + p * kPanel<T> + w * kWidth, &x[w]);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int w = 0; w < W; ++w) AddProduct<isa>(a + r * a_row + p * a_k, x[w], &sum[r][w]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int w = 0; w < W; ++w) Store(sum[r][w], c + r * c_row + w * kWidth);
  }
}

// R rows by at most W vectors of columns; narrower tiles use a buffer.
template <class T, Isa isa, int R, int W>
BP_NN_INLINE void Columns(const Product<T>& p, int64_t i, int64_t j) {
  constexpr int64_t kWidth = W * kLanes<T, isa>;
  const T* a = p.a + i * p.a_row;
  const int64_t columns = std::min(kWidth, p.n - j);
  const T* b = p.b + j / kPanel<T> * kPanel<T> * p.k + j % kPanel<T>;
  const T* start = p.start + i * p.start_row + j * p.start_column;
  T* c = p.c + i * p.c_row + j;
  if (columns == kWidth) {
    Tile<T, isa, R, W>(a, p.a_row, p.a_k, b, p.k, start, p.start_row, c, p.c_row);
    return;
  }
  T edge[R * kWidth] = {};
  for (int r = 0; r < R; ++r) std::copy_n(start + r * p.start_row, columns, edge + r * kWidth);
  Tile<T, isa, R, W>(a, p.a_row, p.a_k, b, p.k, edge, kWidth, edge, kWidth);
  for (int r = 0; r < R; ++r) std::copy_n(edge + r * kWidth, columns, c + r * p.c_row);
}

// All columns of R rows, in tiles of two vectors if they fill more than one.
template <class T, Isa isa, int R>
BP_NN_INLINE void Row(const Product<T>& p, int64_t i) {
  constexpr int64_t kWidth = kLanes<T, isa>;
  int64_t j = 0;
  for (; p.n - j > kWidth; j += 2 * kWidth) Columns<T, isa, R, 2>(p, i, j);
  for (; j < p.n; j += kWidth) Columns<T, isa, R, 1>(p, i, j);
}

// Rows per tile: as many as fit into the registers.
template <class T>
struct Rows {
  template <Isa isa>
  static BP_NN_INLINE void Run(const Product<T>* product) {
    constexpr int kRows = kWide<isa> ? 8 : isa == Isa::kFma ? 6 : 4;
    const Product<T>& p = *product;
    int64_t i = 0;
    for (; i + kRows <= p.m; i += kRows) Row<T, isa, kRows>(p, i);
    if constexpr (kRows == 8) {
      for (; i + 4 <= p.m; i += 4) Row<T, isa, 4>(p, i);
    }
    for (; i + 2 <= p.m; i += 2) Row<T, isa, 2>(p, i);
    for (; i < p.m; ++i) Row<T, isa, 1>(p, i);
  }
};

// Transposes k numbers of `columns` rows of b, [.., k], into a panel: to(p, c) = b(c, p). Specialised for 16 x 16 numbers of 32
// bits, whose columns are far apart in b: copying them one by one costs more than the product of a small batch.
struct TransposePanel {
  template <Isa isa>
  static BP_NN_INLINE void Run(const float* b, int64_t k, int64_t columns, float* to) {
    int64_t p = 0;
    if constexpr (isa == Isa::kAvx512) {
      for (; p + kSide <= k; p += kSide) {
        int64_t c = 0;
        for (; c + kSide <= columns; c += kSide) Tile<isa>(b + c * k + p, k, to + p * kPanel<float> + c);
        Plain(b, k, c, columns, p, p + kSide, to);
      }
    }
    Plain(b, k, 0, columns, p, k, to);
  }

 private:
  static constexpr int kSide = 16;
  typedef int32_t Places __attribute__((vector_size(64)));

  static BP_NN_INLINE void Plain(const float* b, int64_t k, int64_t c_begin, int64_t c_end, int64_t p_begin, int64_t p_end,
                                 float* to) {
    for (int64_t p = p_begin; p < p_end; ++p) {
      for (int64_t c = c_begin; c < c_end; ++c) to[p * kPanel<float> + c] = b[c * k + p];
    }
  }

  // Four rounds, each of which makes pairs of runs of 1, 2, 4, 8 numbers change places.
  template <Isa isa>
  static BP_NN_INLINE void Tile(const float* from, int64_t k, float* to) {
    Vec<float, isa> rows[kSide];
#pragma GCC unroll 16
    for (int r = 0; r < kSide; ++r) Load(from + r * k, &rows[r]);
    Exchange<1>(rows), Exchange<2>(rows), Exchange<4>(rows), Exchange<8>(rows);
#pragma GCC unroll 16
    for (int r = 0; r < kSide; ++r) Store(rows[r], to + r * kPanel<float>);
  }

  // Swaps odd runs of row r with even runs of row r + run.
  template <int run, class V>
  static BP_NN_INLINE void Exchange(V* rows) {
    Places first, second;
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) {
      const bool odd = i / run % 2 == 1;
      first[i] = odd ? i - run + kSide : i;
      second[i] = odd ? i + kSide : i + run;
    }
#pragma GCC unroll 16
    for (int r = 0; r < kSide; ++r) {
      if (r / run % 2 == 1) continue;
      const V a = rows[r], b = rows[r + run];
      rows[r] = __builtin_shuffle(a, b, first);
      rows[r + run] = __builtin_shuffle(a, b, second);
    }
  }
};

// panel(p, c) = b(c, p) for the `columns` rows of b.
void PackTransposed(const float* b, int64_t k, int64_t columns, float* to) { Dispatch<TransposePanel>(b, k, columns, to); }
void PackTransposed(const double* b, int64_t k, int64_t columns, double* to) {
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t c = 0; c < columns; ++c) to[p * kPanel<double> + c] = b[c * k + p];
  }
}

// This thread's buffer for the words of a factor during its product.
float* Scratch(int64_t size) {
  static thread_local std::vector<float> words;
  if (static_cast<int64_t>(words.size()) < size) words.resize(size);
  return words.data();
}

template <class T>
bool IsBf16(const Packed<T>& b) {
  return std::is_same_v<T, float> && b.precision() == Precision::kBf16;
}

// Numbers, or words of two, along the shared index.
template <class T>
int64_t Shared(const Packed<T>& b) {
  return IsBf16(b) ? WordsFor(b.k()) : b.k();
}

template <class T>
void Compute(const Product<T>& product, const Packed<T>& b) {
  if constexpr (std::is_same_v<T, float>) {
    if (IsBf16(b)) return DispatchBf16<Rows<T>>(&product);
  }
  Dispatch<Rows<T>>(&product);
}

// The first factor [m, b.k()] as the product reads it.
const double* RowsOf(const double* a, const Packed<double>&, int64_t) { return a; }
const float* RowsOf(const float* a, const Packed<float>& b, int64_t m) {
  if (!IsBf16(b)) return a;
  float* words = Scratch(m * Shared(b));
  PairsInRows(a, m, b.k(), words);
  return words;
}

// The transposed one, from a [b.k(), k].
const double* ColumnsOf(const double* a, int64_t, const Packed<double>&) { return a; }
const float* ColumnsOf(const float* a, int64_t k, const Packed<float>& b) {
  if (!IsBf16(b)) return a;
  float* words = Scratch(Shared(b) * k);
  PairsInColumns(a, b.k(), k, k, words, k);
  return words;
}

// Rows of `columns` numbers of b [k, n], one below another in a panel; leaves the rest of the panel unchanged.
void PackPanel(const double* b, int64_t k, int64_t n, int64_t columns, Precision, double* to) {
  for (int64_t p = 0; p < k; ++p) std::copy_n(b + p * n, columns, to + p * kPanel<double>);
}
void PackPanel(const float* b, int64_t k, int64_t n, int64_t columns, Precision precision, float* to) {
  if (precision == Precision::kBf16) return PairsInColumns(b, k, columns, n, to, kPanel<float>);
  for (int64_t p = 0; p < k; ++p) std::copy_n(b + p * n, columns, to + p * kPanel<float>);
}

// Fills a panel up from column `columns` on.
template <class T>
void FillUp(int64_t k, int64_t columns, T* panel) {
  for (int64_t p = 0; p < k; ++p) std::fill(panel + p * kPanel<T> + columns, panel + (p + 1) * kPanel<T>, T{0});
}

}  // namespace

template <class T>
void Packed<T>::Shape(int64_t k, int64_t n, Precision precision) {
  k_ = k, n_ = n, precision_ = precision;
  const auto size = static_cast<size_t>((n + kPanel<T> - 1) / kPanel<T> * kPanel<T> * Shared(*this));
  if (data_.size() < size) data_.resize(size);
}

template <class T>
void Packed<T>::Set(const T* b, int64_t k, int64_t n, Precision precision) {
  Shape(k, n, precision);
  T* to = data_.data();
  for (int64_t j = 0; j < n; j += kPanel<T>, to += kPanel<T> * Shared(*this)) {
    const int64_t columns = std::min(kPanel<T>, n - j);
    PackPanel(b + j, k, n, columns, precision, to);
    if (columns < kPanel<T>) FillUp(Shared(*this), columns, to);
  }
}

template <class T>
void Packed<T>::SetTransposed(const T* b, int64_t n, int64_t k, Precision precision) {
  Shape(k, n, precision);
  const T* rows = RowsOf(b, *this, n);
  const int64_t shared = Shared(*this);
  T* to = data_.data();
  for (int64_t j = 0; j < n; j += kPanel<T>, to += kPanel<T> * shared) {
    const int64_t columns = std::min(kPanel<T>, n - j);
    PackTransposed(rows + j * shared, shared, columns, to);
    if (columns < kPanel<T>) FillUp(shared, columns, to);
  }
}

template <class T>
void Multiply(const T* a, const Packed<T>& b, const T* bias, int64_t m, T* c) {
  static constexpr T kZeros[kPanel<T>] = {};
  const int64_t k = Shared(b);
  Compute<T>({m, b.n(), k, RowsOf(a, b, m), k, 1, b.data(), bias ? bias : kZeros, 0, bias ? 1 : 0, c, b.n()}, b);
}

template <class T>
void MultiplyAdd(const T* a, const Packed<T>& b, int64_t m, T* c) {
  const int64_t k = Shared(b);
  Compute<T>({m, b.n(), k, RowsOf(a, b, m), k, 1, b.data(), c, b.n(), 1, c, b.n()}, b);
}

template <class T>
void MultiplyTransposedAdd(const T* a, int64_t k, const Packed<T>& b, T* c) {
  Compute<T>({k, b.n(), Shared(b), ColumnsOf(a, k, b), 1, k, b.data(), c, b.n(), 1, c, b.n()}, b);
}

template class Packed<float>;
template class Packed<double>;
template void Multiply(const float*, const Packed<float>&, const float*, int64_t, float*);
template void Multiply(const double*, const Packed<double>&, const double*, int64_t, double*);
template void MultiplyAdd(const float*, const Packed<float>&, int64_t, float*);
template void MultiplyAdd(const double*, const Packed<double>&, int64_t, double*);
template void MultiplyTransposedAdd(const float*, int64_t, const Packed<float>&, float*);
template void MultiplyTransposedAdd(const double*, int64_t, const Packed<double>&, double*);

}  // namespace backplane::nn
