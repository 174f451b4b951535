#include "adamw.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backplane/parallel.hpp"
#include "nn/vectors.hpp"

namespace backplane::seq2seq {
namespace {

constexpr int64_t kPiece = 1 << 16;

int64_t PiecesOf(int64_t n) { return (n + kPiece - 1) / kPiece; }

// Calls work(piece, begin, count) for each piece.
template <class Work>
void InPieces(const bp_host* host, int64_t n, Work&& work) {
  bp::ParallelFor(host, static_cast<uint64_t>(PiecesOf(n)), [&](uint64_t i) {
    const int64_t begin = static_cast<int64_t>(i) * kPiece;
    work(i, begin, std::min(kPiece, n - begin));
  });
}

}  // namespace

double SumGradients(const bp_host* host, const std::vector<float*>& gradients, int64_t n) {
  std::vector<double> squares(static_cast<size_t>(PiecesOf(n)));
  InPieces(host, n, [&](uint64_t piece, int64_t begin, int64_t length) {
    for (size_t i = 1; i < gradients.size(); ++i) nn::Add(gradients[i] + begin, length, gradients[0] + begin);
    squares[piece] = nn::SumOfSquares(gradients[0] + begin, length);
  });
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

void SetToZero(const bp_host* host, const std::vector<float*>& gradients, int64_t n) {
  InPieces(host, n, [&](uint64_t, int64_t begin, int64_t length) {
    for (float* gradient : gradients) std::fill_n(gradient + begin, length, 0.0f);
  });
}

void StepAdamW(const bp_host* host, const AdamWStep& s, int64_t n, float* gradient, float* first, float* second,
               float* weights) {
  const nn::AdamStep step{s.lr, s.beta1, s.beta2, s.epsilon, static_cast<int64_t>(s.update)};
  InPieces(host, n, [&](uint64_t, int64_t begin, int64_t length) {
    const int64_t decayed = std::clamp<int64_t>(s.decayed - begin, 0, length);
    if (s.factor != 1) nn::Scale(s.factor, length, gradient + begin);
    if (s.weight_decay > 0) nn::Scale(1 - s.lr * s.weight_decay, decayed, weights + begin);
    nn::Adam(step, gradient + begin, length, first + begin, second + begin, weights + begin);
  });
}

}  // namespace backplane::seq2seq
