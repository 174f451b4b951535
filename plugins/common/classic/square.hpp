// Squares with the bits of numpy's scalars.
#pragma once

#include <cmath>

namespace classic {

// numpy squares with the C library's pow and powf, whose last bit occasionally differs from x * x. The volatile keeps GCC from
// replacing pow(x, 2) by x * x.
template <class Real>
Real Square(Real x) {
  volatile Real two = 2;
  return std::pow(x, two);
}

}  // namespace classic
