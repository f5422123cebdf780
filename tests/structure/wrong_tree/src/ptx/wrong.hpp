// Input of the structure test: ptx reaching back to profile, which the check must report.
#pragma once

#include "base/error.hpp"
#include "profile/profile.hpp"
