// Kernels of include/lanescope/kernels/transpose.cuh, instantiated for tests on the engine
// (tests/kernels/transpose_library_test.cpp), which need no nvcc.
#include "lanescope/kernels/transpose.cuh"

namespace lanescope::kernels::transposing {

template __global__ void transpose_aligned<Tiles<2>::Small>(Job<2>, Order);
template __global__ void transpose_aligned<Tiles<4>::Lines>(Job<4>, Order);
template __global__ void transpose_aligned<Tiles<8>::Large, 65536>(Job<8>, Order);
template __global__ void transpose_aligned<Tiles<16>::Large>(Job<16>, Order);
template __global__ void transpose_realigning<Tiles<1>::Anywhere, Reading::keeping, 65536>(Job<1>, Order,
                                                                                           Gaps, TilesInside);
template __global__ void transpose_realigning<Tiles<2>::Anywhere, Reading::keeping, 65536>(Job<2>, Order,
                                                                                           Gaps, TilesInside);
template __global__ void transpose_realigning<Tiles<4>::Anywhere, Reading::plain>(Job<4>, Order, Gaps,
                                                                                  TilesInside);
template __global__ void transpose_lines<Tiles<8>::Anywhere, Reading::plain>(Job<8>, Order);
template __global__ void transpose_lines<Tiles<16>::Anywhere, Reading::keeping, 32768>(Job<16>, Order);
// `__grid_constant__` has to be said again where a template is instantiated.
#define SMALL(bytes, rows, columns, slots)                               \
  template __global__ void transpose_small<bytes, rows, columns, slots>( \
      Job<bytes>, const __grid_constant__ ScheduleOf<slots>)
SMALL(1, 1, 4, usual_slots);
SMALL(1, 1, 4, most_slots);
SMALL(1, 4, 1, usual_slots);
SMALL(1, 4, 1, most_slots);
SMALL(1, 4, 4, usual_slots);
SMALL(1, 4, 4, most_slots);
SMALL(2, 1, 2, usual_slots);
SMALL(2, 1, 2, most_slots);
SMALL(2, 2, 1, usual_slots);
SMALL(2, 2, 1, most_slots);
SMALL(2, 2, 2, usual_slots);
SMALL(2, 2, 2, most_slots);
SMALL(4, 1, 1, usual_slots);
SMALL(4, 1, 1, most_slots);
SMALL(8, 1, 1, usual_slots);
SMALL(8, 1, 1, most_slots);
SMALL(16, 1, 1, usual_slots);
SMALL(16, 1, 1, most_slots);
#define GAPS(bytes, rows, columns, slots)                                          \
  template __global__ void transpose_gaps<bytes, rows, columns, slots>(            \
      Job<bytes>, const __grid_constant__ GapsIn, const __grid_constant__ GapsOut, \
      const __grid_constant__ ScheduleOf<slots>)
GAPS(1, 1, 4, usual_slots);
GAPS(1, 1, 4, most_slots);
GAPS(1, 4, 1, usual_slots);
GAPS(1, 4, 1, most_slots);
GAPS(1, 4, 4, usual_slots);
GAPS(1, 4, 4, most_slots);
GAPS(2, 1, 2, usual_slots);
GAPS(2, 1, 2, most_slots);
GAPS(2, 2, 1, usual_slots);
GAPS(2, 2, 1, most_slots);
GAPS(2, 2, 2, usual_slots);
GAPS(2, 2, 2, most_slots);
GAPS(4, 1, 1, usual_slots);
GAPS(4, 1, 1, most_slots);
GAPS(8, 1, 1, usual_slots);
GAPS(8, 1, 1, most_slots);
GAPS(16, 1, 1, usual_slots);
GAPS(16, 1, 1, most_slots);
#define STRIPS(bytes, rows, columns)                               \
  template __global__ void transpose_strips<bytes, rows, columns>( \
      Job<bytes>, Strips, const __grid_constant__ ScheduleOf<usual_slots>)
STRIPS(1, 1, 4);
STRIPS(1, 4, 1);
STRIPS(1, 4, 4);
STRIPS(2, 1, 2);
STRIPS(2, 2, 1);
STRIPS(2, 2, 2);
STRIPS(4, 1, 1);
STRIPS(8, 1, 1);
STRIPS(16, 1, 1);
#define GATHERING(bytes, wide, ...)                                                         \
  template __global__ void transpose_gathering<bytes, wide, __VA_ARGS__>(Job<bytes>, Order, \
                                                                         const __grid_constant__ Gathering)
GATHERING(1, false, Reading::keeping, 32768);
GATHERING(1, true, Reading::plain);
GATHERING(2, false, Reading::plain);
GATHERING(2, true, Reading::keeping, 32768);
GATHERING(4, false, Reading::plain);
GATHERING(4, true, Reading::plain);
#define GATHERING_IN_PLACE(bytes, reading)                               \
  template __global__ void transpose_gathering_in_place<bytes, reading>( \
      Job<bytes>, const __grid_constant__ Pairs, const __grid_constant__ Gathering)
GATHERING_IN_PLACE(1, Reading::keeping);
GATHERING_IN_PLACE(2, Reading::plain);
GATHERING_IN_PLACE(4, Reading::keeping);
template __global__ void transpose_in_place<PairTiles<1, 32, 256, Reading::plain>>(
    Job<1>, const __grid_constant__ Pairs);
template __global__ void transpose_in_place<PairTiles<2, 32, 256, Reading::plain>>(
    Job<2>, const __grid_constant__ Pairs);
template __global__ void transpose_in_place<PairTiles<8, 32, 256, Reading::plain>>(
    Job<8>, const __grid_constant__ Pairs);
template __global__ void transpose_in_place<PairTiles<16, 64, 1024, Reading::keeping>>(
    Job<16>, const __grid_constant__ Pairs);
template __global__ void transpose_aligned_in_place<Tiles<2>::Small, Reading::plain>(Job<2>, unsigned);
template __global__ void transpose_aligned_in_place<Tiles<4>::InPlace, Reading::keeping>(Job<4>, unsigned);
template __global__ void transpose_aligned_in_place<Tiles<8>::InPlace, Reading::plain>(Job<8>, unsigned);

}  // namespace lanescope::kernels::transposing
