// Reading textures. Implemented in texture.cpp.
#pragma once

#include "exec/texture.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

/// See HandlerSet::sample.
void sample_texture(const Texture& t, const TextureLevel& level, const TextureForm& form,
                    const TexturePoints& points, Texels& out);

}  // namespace lanescope::exec::LANESCOPE_ISA
