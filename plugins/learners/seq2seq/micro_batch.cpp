#include "model.hpp"

namespace backplane::seq2seq {
namespace {

int64_t Sum(const bp_tensor& lengths) {
  int64_t sum = 0;
  for (int64_t i = 0; i < lengths.shape[0]; ++i) sum += static_cast<const int32_t*>(lengths.data)[i * lengths.strides[0]];
  return sum;
}

}  // namespace

int64_t MicroBatch::LabelTokens() const { return Sum(*label_length); }
int64_t MicroBatch::RealTokens() const { return Sum(*source_length) + Sum(*label_length); }
int64_t MicroBatch::PaddedTokens() const { return size() * (source->shape[1] + label->shape[1]); }

}  // namespace backplane::seq2seq
