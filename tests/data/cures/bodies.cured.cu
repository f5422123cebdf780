// Forces between bodies of a vector, a number and two flags, in an array that is declared along with their
// struct. Blocks of 128 threads.
constexpr int count = 128;

extern "C" __global__ void bodies(float* out, const float4* position, const float* charge, float far) {
  __shared__ struct {
    struct {
      float x[count];
      float y[count];
      float z[count];
      float w[count];
    } position;
    float charge[count];
    short group[count];
    bool fixed[count];
  } body;
  const int t = threadIdx.x, i = blockIdx.x * count + t;
  {
    const float4 element = position[i];
    body.position.x[t] = element.x;
    body.position.y[t] = element.y;
    body.position.z[t] = element.z;
    body.position.w[t] = element.w;
  }
  body.charge[t] = charge[i];
  body.group[t] = t % 3;
  body.fixed[t] = t % 5 == 0;
  __syncthreads();
  float force = 0;
  for (int step = 1; step < 16; ++step) {
    [[maybe_unused]] struct { struct { const float& x; } position; const float& charge; const short& group; const bool& fixed; } other{{body.position.x[(t + step) % count]}, body.charge[(t + step) % count], body.group[(t + step) % count], body.fixed[(t + step) % count]};
    const float distance = other.position.x - body.position.x[t];
    if (distance < far && other.group == body.group[t] && !other.fixed) force += other.charge * distance;
  }
  out[i] = force;
}
