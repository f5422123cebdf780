// Handlers of the video instructions. They are rare: what their operands' parts are is found at run time.
#include "exec/handlers/registers.hpp"
#include "exec/handlers/semantics_video.hpp"
#include "exec/lanes.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

using ptx::Mod;
using ptx::Op;

template <class F>
const Inst* video_lanes(Warp& w, const Inst* in) {
  const uint32_t* a = reg<uint32_t>(w, in->a);
  const uint32_t* b = reg<uint32_t>(w, in->b);
  const uint32_t* c = in->c == no_operand ? a : reg<uint32_t>(w, in->c);  // without c none is asked for
  const VideoControl control = std::bit_cast<VideoControl>(in->imm);
  for_lanes(w.mask, reg<uint32_t>(w, in->d), [=](uint32_t i) { return F()(a[i], b[i], c[i], control); });
  return in + 1;
}

template <template <class> class How>
Handler select_vset(const HandlerKey& key) {
  if (key.has(Mod::eq)) return video_lanes<How<VideoCompare<Eq>>>;
  if (key.has(Mod::ne)) return video_lanes<How<VideoCompare<Ne>>>;
  if (key.has(Mod::lt)) return video_lanes<How<VideoCompare<Lt>>>;
  if (key.has(Mod::le)) return video_lanes<How<VideoCompare<Le>>>;
  if (key.has(Mod::gt)) return video_lanes<How<VideoCompare<Gt>>>;
  if (key.has(Mod::ge)) return video_lanes<How<VideoCompare<Ge>>>;
  return nullptr;
}
template <class F>
using Halves = VideoLanes<F, 2>;
template <class F>
using Bytes = VideoLanes<F, 4>;

}  // namespace

Handler select_video(const HandlerKey& key) {
  switch (key.op) {
    case Op::vadd: return video_lanes<Video<VideoAdd>>;
    case Op::vsub: return video_lanes<Video<VideoSub>>;
    case Op::vabsdiff: return video_lanes<Video<VideoAbsDiff>>;
    case Op::vmin: return video_lanes<Video<Min>>;
    case Op::vmax: return video_lanes<Video<Max>>;
    case Op::vshl: return video_lanes<VideoShift<true>>;
    case Op::vshr: return video_lanes<VideoShift<false>>;
    case Op::vmad: return video_lanes<VideoMad>;
    case Op::vset: return select_vset<Video>(key);
    case Op::vadd2: return video_lanes<Halves<VideoAdd>>;
    case Op::vsub2: return video_lanes<Halves<VideoSub>>;
    case Op::vavrg2: return video_lanes<Halves<VideoAverage>>;
    case Op::vabsdiff2: return video_lanes<Halves<VideoAbsDiff>>;
    case Op::vmin2: return video_lanes<Halves<Min>>;
    case Op::vmax2: return video_lanes<Halves<Max>>;
    case Op::vset2: return select_vset<Halves>(key);
    case Op::vadd4: return video_lanes<Bytes<VideoAdd>>;
    case Op::vsub4: return video_lanes<Bytes<VideoSub>>;
    case Op::vavrg4: return video_lanes<Bytes<VideoAverage>>;
    case Op::vabsdiff4: return video_lanes<Bytes<VideoAbsDiff>>;
    case Op::vmin4: return video_lanes<Bytes<Min>>;
    case Op::vmax4: return video_lanes<Bytes<Max>>;
    case Op::vset4: return select_vset<Bytes>(key);
    default: return nullptr;
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
