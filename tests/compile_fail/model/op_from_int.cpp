// Must not compile: a kind of access is no number.
#include "lanescope/model/model.hpp"

using namespace lanescope::model;

constexpr Request request = strided(1, 4, 0, 4);
