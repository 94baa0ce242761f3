// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUDA C++, compiled at run time. A part of card_kernels.cpp.

namespace ebb::fl {

/// What is normalised is [samples, rows, channels], four channels in a lane. What stands for a
/// sample and a channel alone is [samples, channels]. Sums are made of up to 32 sums of every 32nd
/// row, in their order: group_norm.cpp adds up in the same one.
///
/// Windows are what each output of a convolution sees: [clients, samples, outputs down, across,
/// kernel, kernel, channels], of a flow [samples, height, width, clients, channels].
inline constexpr const char* kCardKernels = R"(
typedef long long Long;
#define EACH(DO) DO(x) DO(y) DO(z) DO(w)

__device__ float4 passed(float4 pull, const float4* result, Long at) {
  if (!result) return pull;
  float4 out = result[at];
#define DO(c) if (out.c <= 0.0f) pull.c = 0.0f;
  EACH(DO)
#undef DO
  return pull;
}

// What comes of the sums of a column's parts: the first thread of each column writes it.
__device__ void join(float4* parts, float4 mine, float4* into, Long at) {
  parts[threadIdx.y * 32 + threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.y == 0) {
    float4 sum = parts[threadIdx.x];
    for (unsigned i = 1; i < blockDim.y; ++i) {
      float4 next = parts[i * 32 + threadIdx.x];
#define DO(c) sum.c += next.c;
      EACH(DO)
#undef DO
    }
    if (into) into[at] = sum;
  }
  __syncthreads();
}

// Sums of what `x` has beyond its first row, and of the squares of that.
extern "C" __global__ void __launch_bounds__(1024) column_sums(const float4* x, float4* sums, float4* squares, Long rows,
                                       Long lanes) {
  __shared__ float4 parts[32 * 32];
  Long lane = blockIdx.x * 32LL + threadIdx.x, sample = blockIdx.y;
  float4 sum = {0, 0, 0, 0}, square = {0, 0, 0, 0};
  bool is_there = lane < lanes;
  if (is_there) {
    float4 first = x[sample * rows * lanes + lane];
    for (Long row = threadIdx.y; row < rows; row += blockDim.y) {
      float4 beyond = x[(sample * rows + row) * lanes + lane];
#define DO(c) beyond.c -= first.c; sum.c += beyond.c; square.c += beyond.c * beyond.c;
      EACH(DO)
#undef DO
    }
  }
  join(parts, sum, is_there ? sums : 0, sample * lanes + lane);
  join(parts, square, is_there ? squares : 0, sample * lanes + lane);
}

// Sums of the gradient that passes, and of its products with what `x` has beyond its mean.
extern "C" __global__ void __launch_bounds__(1024) column_products(const float4* pull, const float4* result, const float4* x,
                                           const float4* mean, float4* sums, float4* products,
                                           Long rows, Long lanes) {
  __shared__ float4 parts[32 * 32];
  Long lane = blockIdx.x * 32LL + threadIdx.x, sample = blockIdx.y;
  float4 sum = {0, 0, 0, 0}, product = {0, 0, 0, 0};
  bool is_there = lane < lanes;
  if (is_there) {
    float4 middle = mean[sample * lanes + lane];
    for (Long row = threadIdx.y; row < rows; row += blockDim.y) {
      Long at = (sample * rows + row) * lanes + lane;
      float4 passes = passed(pull[at], result, at), value = x[at];
#define DO(c) sum.c += passes.c; product.c += passes.c * (value.c - middle.c);
      EACH(DO)
#undef DO
    }
  }
  join(parts, sum, is_there ? sums : 0, sample * lanes + lane);
  join(parts, product, is_there ? products : 0, sample * lanes + lane);
}

extern "C" __global__ void normalise(const float4* x, const float4* mean, const float4* scale,
                                     const float4* shift, const float4* added, float4* result,
                                     Long rows, Long lanes, Long count, Long rectifies) {
  Long at = blockIdx.x * (Long)blockDim.x + threadIdx.x;
  if (at >= count) return;
  Long lane = at % lanes, column = at / (rows * lanes) * lanes + lane;
  float4 value = x[at], middle = mean[column], times = scale[column], plus = shift[lane];
#define DO(c) value.c = (value.c - middle.c) * times.c + plus.c;
  EACH(DO)
#undef DO
  if (added) {
    float4 more = added[at];
#define DO(c) value.c += more.c;
    EACH(DO)
#undef DO
  }
#define DO(c) if (rectifies && value.c <= 0.0f) value.c = 0.0f;
  EACH(DO)
#undef DO
  result[at] = value;
}

// The gradient of `x`, and in `passes`, where it is asked for, that of what was added.
extern "C" __global__ void normalise_back(const float4* pull, const float4* result, const float4* x,
                                          const float4* mean, const float4* scale,
                                          const float4* slope, const float4* offset,
                                          float4* gradient, float4* passes, Long rows, Long lanes,
                                          Long count) {
  Long at = blockIdx.x * (Long)blockDim.x + threadIdx.x;
  if (at >= count) return;
  Long lane = at % lanes, column = at / (rows * lanes) * lanes + lane;
  float4 mine = passed(pull[at], result, at), value = x[at], middle = mean[column];
  float4 times = scale[column], tilt = slope[column], plus = offset[column];
  if (passes) passes[at] = mine;
#define DO(c) mine.c = mine.c * times.c + (value.c - middle.c) * tilt.c + plus.c;
  EACH(DO)
#undef DO
  gradient[at] = mine;
}

// Windows and flows are of single channels, or of four in a lane: `lanes` of a client.
__device__ void add_to(float& sum, float more) { sum += more; }
__device__ void add_to(float4& sum, float4 more) {
#define DO(c) sum.c += more.c;
  EACH(DO)
#undef DO
}

// A thread is one lane of a whole window: numbers are divided once for all of that.
template <class T>
__device__ void look(const T* flow, T* windows, unsigned clients, unsigned lanes,
                            int kernel, int stride, int padding, unsigned samples, int height,
                            int width, unsigned down, unsigned across, Long count) {
  Long at = blockIdx.x * (Long)blockDim.x + threadIdx.x;
  if (at >= count) return;
  unsigned output = at / lanes, lane = at - (Long)output * lanes, row = output / across;
  unsigned picture = row / down;
  int top = (int)(row % down) * stride - padding, left = (int)(output % across) * stride - padding;
  const T* from =
      flow + (Long)(picture % samples) * height * width * clients * lanes +
      picture / samples * lanes + lane;
  T* to = windows + (Long)output * kernel * kernel * lanes + lane;
  for (int y = top; y < top + kernel; ++y) {
    for (int x = left; x < left + kernel; ++x, to += lanes) {
      T value = {};
      if (y >= 0 && y < height && x >= 0 && x < width)
        value = from[((Long)y * width + x) * clients * lanes];
      *to = value;
    }
  }
}

template <class T>
__device__ void gather(const T* windows, T* flow, unsigned clients, unsigned lanes, int kernel,
                       int stride, int padding, unsigned samples, unsigned height, unsigned width,
                       int down, int across, Long count) {
  Long at = blockIdx.x * (Long)blockDim.x + threadIdx.x;
  if (at >= count) return;
  unsigned of_pixel = clients * lanes, pixel = at / of_pixel, inside = at - (Long)pixel * of_pixel;
  unsigned client = inside / lanes, lane = inside % lanes, row = pixel / width;
  int y = row % height, x = pixel % width;
  Long first = ((Long)client * samples + row / height) * down * across;
  T sum = {};
  for (int i = 0; i < kernel; ++i) {
    int below = y + padding - i;
    if (below < 0 || below % stride != 0 || below / stride >= down) continue;
    for (int j = 0; j < kernel; ++j) {
      int right = x + padding - j;
      if (right < 0 || right % stride != 0 || right / stride >= across) continue;
      Long output = first + below / stride * across + right / stride;
      add_to(sum, windows[(output * kernel * kernel + i * kernel + j) * lanes + lane]);
    }
  }
  flow[at] = sum;
}

#define WINDOWS(NAME, BODY, T)                                                                    \
  extern "C" __global__ void NAME(const T* from, T* to, Long clients, Long lanes, Long kernel,    \
                                  Long stride, Long padding, Long samples, Long height,           \
                                  Long width, Long down, Long across, Long count) {               \
    BODY(from, to, clients, lanes, kernel, stride, padding, samples, height, width, down, across, \
         count);                                                                                  \
  }
WINDOWS(windows_of_four, look, float4)
WINDOWS(windows_back, gather, float)
WINDOWS(windows_back_of_four, gather, float4)

// Of single channels: a warp is a row of outputs, and writes one window after the other. `count`
// such rows.
extern "C" __global__ void windows(const float* __restrict__ flow, float* __restrict__ windows,
                                   Long clients, Long channels, Long kernel, Long stride,
                                   Long padding, Long samples, Long height, Long width, Long down,
                                   Long across, Long count) {
  unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= count) return;
  unsigned picture = row / (unsigned)down, size = kernel * kernel * channels;
  int top = (int)(row % (unsigned)down) * (int)stride - (int)padding;
  Long apart = clients * channels;
  const float* from = flow + picture % (unsigned)samples * height * width * apart +
                      picture / (unsigned)samples * channels;
  float* to = windows + row * across * size;
  for (unsigned i = threadIdx.x; i < size; i += 32) {
    unsigned pixel = i / (unsigned)channels;
    int y = top + (int)(pixel / (unsigned)kernel);
    int x = (int)(pixel % (unsigned)kernel) - (int)padding;
    bool is_there = y >= 0 && y < height;
    const float* line = from + y * width * apart + i % (unsigned)channels;
#pragma unroll 6
    for (int output = 0; output < across; ++output, x += (int)stride)
      to[(Long)output * size + i] = is_there && x >= 0 && x < width ? line[x * apart] : 0.0f;
  }
}

extern "C" __global__ void rectify(const float4* x, const float4* bias, float4* result, Long lanes,
                                   Long count) {
  Long at = blockIdx.x * (Long)blockDim.x + threadIdx.x;
  if (at >= count) return;
  float4 value = x[at], plus = bias[at % lanes];
#define DO(c) value.c += plus.c; if (value.c <= 0.0f) value.c = 0.0f;
  EACH(DO)
#undef DO
  result[at] = value;
}

// Of a client and a sample: 32 channels of 32 pooled pixels, which a block turns round. A `pixel`
// is one of [rows, columns].
struct Tile {
  unsigned sample, client, pixels, rows, columns, first_pixel, first_channel;
  __device__ Tile(unsigned clients, unsigned height, unsigned width) {
    rows = height / 2;
    columns = width / 2;
    pixels = rows * columns;
    unsigned tiles = (pixels + 31) / 32, of_sample = blockIdx.x / tiles;
    first_pixel = blockIdx.x % tiles * 32;
    first_channel = blockIdx.y * 32;
    client = of_sample % clients;
    sample = of_sample / clients;
  }
  // The first of four, in [samples, height, width, clients, channels].
  __device__ Long above(unsigned pixel, unsigned channel, Long clients, Long channels, Long height,
                        Long width) const {
    Long y = sample * height + pixel / columns * 2, x = pixel % columns * 2;
    return ((y * width + x) * clients + client) * channels + channel;
  }
  // In [clients, samples, channels, pixels].
  __device__ Long pooled(unsigned pixel, unsigned channel, Long samples, Long channels) const {
    return ((client * samples + sample) * channels + channel) * pixels + pixel;
  }
};

// `which` of four pixels each is, or 4 where it is none.
extern "C" __global__ void rectify_and_pool(const float* x, const float* bias,
                                            const unsigned char* mask, float* result,
                                            unsigned char* which, Long scale, Long samples,
                                            Long clients, Long channels, Long height, Long width) {
  __shared__ float largest[32][33];
  __shared__ unsigned char from[32][33];
  Tile tile(clients, height, width);
  Long right = clients * channels, below = right * width;
  for (unsigned i = threadIdx.y; i < 32; i += blockDim.y) {
    unsigned pixel = tile.first_pixel + i, channel = tile.first_channel + threadIdx.x;
    if (pixel >= tile.pixels || channel >= channels) continue;
    const float* at = x + tile.above(pixel, channel, clients, channels, height, width);
    float plus = bias[tile.client * channels + channel];
    float four[4] = {at[0], at[right], at[below], at[below + right]};
    float most = 0;
    unsigned char place = 4;
    for (int k = 0; k < 4; ++k) {
      float value = four[k] + plus;
      if (value > most || value != value) {
        most = value;
        place = k;
      }
    }
    largest[threadIdx.x][i] = most;
    from[threadIdx.x][i] = place;
  }
  __syncthreads();
  for (unsigned i = threadIdx.y; i < 32; i += blockDim.y) {
    unsigned pixel = tile.first_pixel + threadIdx.x, channel = tile.first_channel + i;
    if (pixel >= tile.pixels || channel >= channels) continue;
    Long at = tile.pooled(pixel, channel, samples, channels);
    unsigned char place = mask && !mask[at] ? 4 : from[i][threadIdx.x];
    result[at] = place < 4 ? largest[i][threadIdx.x] * __int_as_float((int)scale) : 0.0f;
    which[at] = place;
  }
}

// The gradient of `x`, and in `passes` that of the four together.
extern "C" __global__ void rectify_and_pool_back(const float* pull, const unsigned char* which,
                                                 float* gradient, float* passes, Long scale,
                                                 Long samples, Long clients, Long channels,
                                                 Long height, Long width) {
  __shared__ float pulled[32][33];
  __shared__ unsigned char to[32][33];
  Tile tile(clients, height, width);
  Long right = clients * channels, below = right * width;
  for (unsigned i = threadIdx.y; i < 32; i += blockDim.y) {
    unsigned pixel = tile.first_pixel + threadIdx.x, channel = tile.first_channel + i;
    if (pixel >= tile.pixels || channel >= channels) continue;
    Long at = tile.pooled(pixel, channel, samples, channels);
    unsigned char place = which[at];
    float value = place < 4 ? pull[at] * __int_as_float((int)scale) : 0.0f;
    passes[at] = value;
    pulled[i][threadIdx.x] = value;
    to[i][threadIdx.x] = place;
  }
  __syncthreads();
  for (unsigned i = threadIdx.y; i < 32; i += blockDim.y) {
    unsigned pixel = tile.first_pixel + i, channel = tile.first_channel + threadIdx.x;
    if (pixel >= tile.pixels || channel >= channels) continue;
    float* at = gradient + tile.above(pixel, channel, clients, channels, height, width);
    float value = pulled[threadIdx.x][i];
    unsigned char place = to[threadIdx.x][i];
    at[0] = place == 0 ? value : 0.0f;
    at[right] = place == 1 ? value : 0.0f;
    at[below] = place == 2 ? value : 0.0f;
    at[below + right] = place == 3 ? value : 0.0f;
  }
}

// A thread is one block of random numbers (random_block), which decides on eight values.
extern "C" __global__ void dropout_mask(unsigned char* mask, const Long* rounds,
                                        const Long* clients, Long samples, Long values, Long blocks,
                                        Long of_a_sample, Long before, Long step, Long key,
                                        Long limit, Long count) {
  Long at = blockIdx.x * (Long)blockDim.x + threadIdx.x;
  if (at >= count) return;
  Long block = at % blocks, sample = at / blocks % samples, client = at / (blocks * samples);
  unsigned n[4] = {(unsigned)(sample * of_a_sample + before + block), (unsigned)step,
                   (unsigned)rounds[client], (unsigned)clients[client]};
  unsigned first_key = (unsigned)key, second_key = (unsigned)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    unsigned first = __umulhi(0xd2511f53u, n[0]), second = __umulhi(0xcd9e8d57u, n[2]);
    unsigned low_first = 0xd2511f53u * n[0], low_second = 0xcd9e8d57u * n[2];
    n[0] = second ^ n[1] ^ first_key;
    n[1] = low_second;
    n[2] = first ^ n[3] ^ second_key;
    n[3] = low_first;
    first_key += 0x9e3779b9u;
    second_key += 0xbb67ae85u;
  }
  unsigned char* into = mask + (client * samples + sample) * values + block * 8;
  for (int i = 0; i < 8 && block * 8 + i < values; ++i)
    into[i] = (n[i / 2] >> (16 * (i % 2)) & 0xffff) >= limit;
}
)";

}  // namespace ebb::fl
