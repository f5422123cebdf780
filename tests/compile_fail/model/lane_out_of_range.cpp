// Must not compile: a warp has no lane 64, and a constant cannot write behind an array.
#include "lanescope/model/model.hpp"

using namespace lanescope::model;

constexpr Request request = [] {
  Request result = strided(Op::load, 4, 0, 4, 64);
  result.address[64] = 0;
  return result;
}();
