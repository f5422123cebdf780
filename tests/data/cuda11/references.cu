// Texture and surface references of CUDA 11, bound in each way there is. references.fatbin is what nvcc 11.8
// makes of it (-fatbin -arch=compute_52); references.txt what the program printed on an H200 (driver 580).
// tests/cuda/cuda11.cpp does what the program does here, without nvcc.
#include <cstdio>
#include <cstring>

texture<float, 2> image;
texture<uchar4, 2, cudaReadModeNormalizedFloat> colours;
static texture<int, 1> line;
namespace space {
texture<float, cudaTextureType3D> volume;
}
surface<void, cudaSurfaceType2D> page;

__global__ void sample(float* out, int offset) {
  const int i = threadIdx.x;
  out[i] = tex2D(image, i * 0.25f + 0.125f, 0.375f);
  const float4 colour = tex2D(colours, i + 0.5f, 1.5f);
  out[32 + i] = colour.x + 2 * colour.y + 4 * colour.z + 8 * colour.w;
  out[64 + i] = tex1Dfetch(line, i + offset);
  out[96 + i] = tex3D(space::volume, i + 0.5f, 1.5f, 2.5f);
  surf2Dwrite(10.0f + i, page, i * 4, 1);
}

/// (A kernel with references cannot be captured.)
__global__ void plain(float* out) { out[threadIdx.x] = threadIdx.x; }

#ifndef LANESCOPE_DEVICE_ONLY
#define SAY(what, call) std::printf("%s: %d\n", what, static_cast<int>(call))

int main() {
  float host[8 * 4 * 4];
  for (int i = 0; i < 8 * 4 * 4; ++i) host[i] = i;
  unsigned char bytes[4 * 128];
  for (int i = 0; i < 4 * 128; ++i) bytes[i] = i;
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  cudaArray *array, *cube, *sheet;
  SAY("array", cudaMallocArray(&array, &floats, 4, 4));
  SAY("fill", cudaMemcpy2DToArray(array, 0, 0, host, 16, 16, 4, cudaMemcpyHostToDevice));
  SAY("volume", cudaMalloc3DArray(&cube, &floats, make_cudaExtent(8, 4, 4)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, 32, 8, 4);
  copy.dstArray = cube;
  copy.extent = make_cudaExtent(8, 4, 4);
  copy.kind = cudaMemcpyHostToDevice;
  SAY("fill", cudaMemcpy3D(&copy));
  SAY("sheet", cudaMallocArray(&sheet, &floats, 32, 4, cudaArraySurfaceLoadStore));
  void *rows, *words;
  SAY("rows", cudaMalloc(&rows, 4 * 128));
  SAY("fill", cudaMemcpy(rows, bytes, 4 * 128, cudaMemcpyHostToDevice));
  SAY("words", cudaMalloc(&words, 1024));
  SAY("fill", cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice));
  SAY("clear", cudaMemset(static_cast<char*>(words) + sizeof host, 0, 1024 - sizeof host));

  image.normalized = 1;
  image.filterMode = cudaFilterModeLinear;
  image.addressMode[0] = image.addressMode[1] = cudaAddressModeWrap;
  SAY("bind to an array", cudaBindTextureToArray(image, array));
  SAY("bind to a volume", cudaBindTextureToArray(space::volume, cube));
  size_t offset = 99;
  SAY("bind to rows", cudaBindTexture2D(&offset, colours, rows, 32, 4, 128));
  std::printf("%zu\n", offset);
  // Not where a texture may begin: the program adds the offset.
  SAY("bind to memory", cudaBindTexture(&offset, line, static_cast<char*>(words) + 256));
  std::printf("%zu\n", offset);
  SAY("without an offset", cudaBindTexture(nullptr, line, static_cast<char*>(words) + 256));
  SAY("offset", cudaGetTextureAlignmentOffset(&offset, line));
  std::printf("%zu\n", offset);
  SAY("bind a surface", cudaBindSurfaceToArray(page, sheet));

  float *out, back[128];
  SAY("out", cudaMalloc(&out, sizeof back));
  sample<<<1, 32>>>(out, static_cast<int>(offset / 4));
  SAY("run", cudaDeviceSynchronize());
  SAY("back", cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 128; ++i) std::printf("%.9g%c", back[i], i % 32 == 31 ? '\n' : ' ');
  SAY("sheet", cudaMemcpy2DFromArray(back, 128, sheet, 0, 0, 128, 2, cudaMemcpyDeviceToHost));
  std::printf("%g %g\n", back[32], back[63]);

  // Bound to something else, and to nothing.
  SAY("bind to other memory", cudaBindTexture(&offset, line, words, 64));
  sample<<<1, 32>>>(out, 0);
  SAY("back", cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  for (int i = 64; i < 96; ++i) std::printf("%.9g%c", back[i], i % 32 == 31 ? '\n' : ' ');
  const textureReference* found = nullptr;
  SAY("reference", cudaGetTextureReference(&found, &image));
  std::printf("%d\n", found == &image);
  SAY("no reference", cudaGetTextureReference(&found, host));
  SAY("last error", cudaGetLastError());
  SAY("unbind", cudaUnbindTexture(line));
  SAY("offset", cudaGetTextureAlignmentOffset(&offset, line));
  SAY("last error", cudaGetLastError());
  SAY("unbind", cudaUnbindTexture(line));
  SAY("bind to other memory", cudaBindTexture(&offset, line, words, 64));
  SAY("bind to rows", cudaBindTexture2D(&offset, colours, rows, 32, 4, 128));
  SAY("rows of odd length", cudaBindTexture2D(&offset, colours, rows, 30, 4, 120));
  SAY("last error", cudaGetLastError());
  SAY("bind to other memory", cudaBindTexture(&offset, line, words, 64));
  SAY("bind to nothing", cudaBindTexture(&offset, line, nullptr, 64));
  SAY("last error", cudaGetLastError());
  int attributes[14] = {};
  SAY("attributes", cudaFuncGetAttributes(reinterpret_cast<cudaFuncAttributes*>(attributes), sample));
  std::printf("%zu bytes, %d threads\n", sizeof(cudaFuncAttributes), attributes[6]);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t failed = reinterpret_cast<cudaGraphNode_t>(host);
  char log[8] = "before";
  SAY("stream", cudaStreamCreate(&stream));
  SAY("capture", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  plain<<<1, 32, 0, stream>>>(out);
  SAY("end", cudaStreamEndCapture(stream, &graph));
  SAY("instantiate", cudaGraphInstantiate(&executable, graph, &failed, log, sizeof log));
  std::printf("%d '%s'\n", failed == reinterpret_cast<cudaGraphNode_t>(host), log);
  SAY("launch", cudaGraphLaunch(executable, stream));
  SAY("run", cudaStreamSynchronize(stream));
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateError;
  failed = reinterpret_cast<cudaGraphNode_t>(host);
  SAY("update", cudaGraphExecUpdate(executable, graph, &failed, &result));
  std::printf("%d %d\n", failed == nullptr, static_cast<int>(result));
  cudaGraph_t empty;
  SAY("empty graph", cudaGraphCreate(&empty, 0));
  SAY("update", cudaGraphExecUpdate(executable, empty, &failed, &result));
  SAY("last error", cudaGetLastError());
  void* entry = nullptr;
  SAY("entry point", cudaGetDriverEntryPoint("cuInit", &entry, cudaEnableDefault));
  std::printf("%d\n", entry != nullptr);
  int version = 0;
  SAY("version", cudaRuntimeGetVersion(&version));
  std::printf("%d\n", version);
  return 0;
}
#endif
