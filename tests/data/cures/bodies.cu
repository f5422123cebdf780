// Forces between bodies of a vector, a number and two flags, in an array that is declared along with their
// struct. Blocks of 128 threads.
constexpr int count = 128;

extern "C" __global__ void bodies(float* out, const float4* position, const float* charge, float far) {
  __shared__ struct {
    float4 position;
    float charge;
    short group;
    bool fixed;
  } body[count];
  const int t = threadIdx.x, i = blockIdx.x * count + t;
  body[t].position = position[i];
  body[t].charge = charge[i];
  body[t].group = t % 3;
  body[t].fixed = t % 5 == 0;
  __syncthreads();
  float force = 0;
  for (int step = 1; step < 16; ++step) {
    const auto& other = body[(t + step) % count];
    const float distance = other.position.x - body[t].position.x;
    if (distance < far && other.group == body[t].group && !other.fixed) force += other.charge * distance;
  }
  out[i] = force;
}
