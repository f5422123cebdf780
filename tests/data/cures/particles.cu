// Charges that pull at each other, in an array of structs of 8 words; the sum goes over a few neighbours of
// each particle. Blocks of 128 threads.
struct Particle {
  float x, y, z, charge;
  float vx, vy, vz, mass;
};
constexpr int count = 128;

extern "C" __global__ void particles(float* out, const Particle* in, float dt) {
  __shared__ Particle s[count];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * count + t];
  __syncthreads();
  float force = 0;
  for (int step = 1; step < 16; ++step) {
    const int other = (t + step) % count;
    const float distance = s[other].x - s[t].x;
    force += s[other].charge / (distance * distance + 1.0f);
  }
  out[blockIdx.x * count + t] = s[t].vx + force * dt / s[t].mass;
}
