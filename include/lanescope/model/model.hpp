// The whole model: architectures and their limits, requests, what shared memory, global memory and its
// first-level cache make of them.
#pragma once

#include "lanescope/model/archs.hpp"
#include "lanescope/model/chips.hpp"
#include "lanescope/model/global.hpp"
#include "lanescope/model/hopper.hpp"
#include "lanescope/model/l1.hpp"
#include "lanescope/model/limits.hpp"
#include "lanescope/model/request.hpp"
#include "lanescope/model/shared.hpp"
