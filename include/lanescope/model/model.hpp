// The whole model: architectures and their limits, requests, what shared and global memory make of them.
#pragma once

#include "lanescope/model/archs.hpp"
#include "lanescope/model/global.hpp"
#include "lanescope/model/hopper.hpp"
#include "lanescope/model/limits.hpp"
#include "lanescope/model/request.hpp"
#include "lanescope/model/shared.hpp"
