// Charges that pull at each other, in an array of structs of 8 words; the sum goes over a few neighbours of
// each particle. Blocks of 128 threads.
struct Particle {
  float x, y, z, charge;
  float vx, vy, vz, mass;
};
constexpr int count = 128;

extern "C" __global__ void particles(float* out, const Particle* in, float dt) {
  __shared__ struct {
    float x[count];
    float y[count];
    float z[count];
    float charge[count];
    float vx[count];
    float vy[count];
    float vz[count];
    float mass[count];
  } s;
  const int t = threadIdx.x;
  {
    const Particle element = in[blockIdx.x * count + t];
    s.x[t] = element.x;
    s.y[t] = element.y;
    s.z[t] = element.z;
    s.charge[t] = element.charge;
    s.vx[t] = element.vx;
    s.vy[t] = element.vy;
    s.vz[t] = element.vz;
    s.mass[t] = element.mass;
  }
  __syncthreads();
  float force = 0;
  for (int step = 1; step < 16; ++step) {
    const int other = (t + step) % count;
    const float distance = s.x[other] - s.x[t];
    force += s.charge[other] / (distance * distance + 1.0f);
  }
  out[blockIdx.x * count + t] = s.vx[t] + force * dt / s.mass[t];
}
