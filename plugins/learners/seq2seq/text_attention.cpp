#include "text_attention.hpp"

#include <algorithm>
#include <cmath>

#include "heads.hpp"
#include "nn/matrix.hpp"
#include "nn/row_gradients.hpp"
#include "nn/rowwise.hpp"
#include "nn/vectors.hpp"

namespace backplane::seq2seq {
namespace {

constexpr const float* kNoBias = nullptr;

// Attention of one head of one text. Reuses its buffers.
class OneHead {
 public:
  explicit OneHead(const TextAttention& a) : a_(a), scale_(1 / std::sqrt(static_cast<float>(a.width))) {}

  void Select(int64_t text, int64_t head) {
    text_ = text, head_ = head;
    const auto t = static_cast<size_t>(text);
    first_ = a_.queries[t], rows_ = a_.queries[t + 1] - first_;
    first_key_ = a_.keys[t], length_ = a_.keys[t + 1] - first_key_;
  }

  void Forward(const AttentionRows& of, float* mixed) {
    FindShares(of);
    Drop(&shares_);
    packed_.Set(Copy(Values(of), of.keys_stride, length_), length_, a_.width);
    nn::Multiply(shares_.data(), packed_, kNoBias, rows_, Room(rows_));
    CopyIn(room_.data(), rows_, a_.width, mixed + first_ * Row() + head_ * a_.width, Row());
  }

  void Backward(const AttentionRows& of, const float* d_mixed, const AttentionRows& d) {
    FindShares(of);
    d_mixed_.resize(static_cast<size_t>(rows_ * a_.width));
    CopyOut(d_mixed + first_ * Row() + head_ * a_.width, Row(), rows_, a_.width, d_mixed_.data());
    d_shares_.resize(shares_.size());
    packed_.SetTransposed(Copy(Values(of), of.keys_stride, length_), length_, a_.width);
    nn::Multiply(d_mixed_.data(), packed_, kNoBias, rows_, d_shares_.data());
    Drop(&d_shares_);
    dropped_ = shares_;
    Drop(&dropped_);
    AddUp(dropped_, d_mixed_, Values(d), d.keys_stride);
    nn::SoftmaxBackward(shares_.data(), rows_, length_, d_shares_.data());
    packed_.Set(Copy(Keys(of), of.keys_stride, length_), length_, a_.width);
    nn::Multiply(d_shares_.data(), packed_, kNoBias, rows_, Room(rows_));
    nn::Scale(scale_, rows_ * a_.width, room_.data());
    CopyIn(room_.data(), rows_, a_.width, Queries(d), d.queries_stride);
    AddUp(d_shares_, query_, Keys(d), d.keys_stride);
  }

 private:
  int64_t Row() const { return a_.heads * a_.width; }
  float* Queries(const AttentionRows& of) const { return of.queries + first_ * of.queries_stride + head_ * a_.width; }
  float* Keys(const AttentionRows& of) const { return of.keys + first_key_ * of.keys_stride + head_ * a_.width; }
  float* Values(const AttentionRows& of) const { return of.values + first_key_ * of.keys_stride + head_ * a_.width; }

  float* Room(int64_t rows) {
    room_.resize(static_cast<size_t>(rows * a_.width));
    return room_.data();
  }
  // Rows of one head, made contiguous; valid until the next call.
  const float* Copy(const float* from, int64_t stride, int64_t rows) {
    CopyOut(from, stride, rows, a_.width, Room(rows));
    return room_.data();
  }

  // query_ [rows, width]: scaled; shares_ [rows, length]: before dropout.
  void FindShares(const AttentionRows& of) {
    query_.resize(static_cast<size_t>(rows_ * a_.width)), shares_.resize(static_cast<size_t>(rows_ * length_));
    CopyOut(Queries(of), of.queries_stride, rows_, a_.width, query_.data());
    nn::Scale(scale_, rows_ * a_.width, query_.data());
    packed_.SetTransposed(Copy(Keys(of), of.keys_stride, length_), length_, a_.width);
    nn::Multiply(query_.data(), packed_, kNoBias, rows_, shares_.data());
    if (!a_.causal) return nn::Softmax(rows_, length_, shares_.data());
    for (int64_t i = 0; i < rows_; ++i) {
      float* row = shares_.data() + i * length_;
      nn::Softmax(1, i + 1, row);
      std::fill(row + i + 1, row + length_, 0.0f);
    }
  }

  void Drop(std::vector<float>* shares) const {
    for (int64_t i = 0; i < rows_; ++i)
      a_.noise.DropRow(shares->data() + i * length_, length_, a_.dropout, a_.site, text_, Noise::Stream::RowOf(head_, i));
  }

  // to [length, width] = transposed(shares) rows, with rows `stride` apart.
  void AddUp(const std::vector<float>& shares, const std::vector<float>& rows, float* to, int64_t stride) {
    packed_.Set(rows.data(), rows_, a_.width);
    std::fill_n(Room(length_), length_ * a_.width, 0.0f);
    nn::MultiplyTransposedAdd(shares.data(), length_, packed_, room_.data());
    CopyIn(room_.data(), length_, a_.width, to, stride);
  }

  const TextAttention& a_;
  const float scale_;
  int64_t text_ = 0, head_ = 0, first_ = 0, rows_ = 0, first_key_ = 0, length_ = 0;
  nn::Packed<float> packed_;
  std::vector<float> query_, shares_, d_mixed_, d_shares_, dropped_, room_;
};

template <class Work>
void ForEachHead(const TextAttention& attention, Work&& work) {
  OneHead one(attention);
  for (int64_t text = 0; text + 1 < static_cast<int64_t>(attention.keys.size()); ++text) {
    for (int64_t head = 0; head < attention.heads; ++head) {
      one.Select(text, head);
      work(&one);
    }
  }
}

}  // namespace

void MixTexts(const TextAttention& attention, const AttentionRows& of, float* mixed) {
  ForEachHead(attention, [&](OneHead* head) { head->Forward(of, mixed); });
}

void MixTextsBackward(const TextAttention& attention, const AttentionRows& of, const float* d_mixed, const AttentionRows& d) {
  ForEachHead(attention, [&](OneHead* head) { head->Backward(of, d_mixed, d); });
}

}  // namespace backplane::seq2seq
