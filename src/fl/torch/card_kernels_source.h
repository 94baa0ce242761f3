// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUDA C++, compiled at run time. A part of card_kernels.cpp.

namespace ebb::fl {

/// What is normalised is [samples, rows, channels], four channels in a lane. What stands for a
/// sample and a channel alone is [samples, channels]. Sums are made of up to 32 sums of every 32nd
/// row, in their order: group_norm.cpp adds up in the same one.
///
/// Windows are what each output of a convolution sees: [clients, samples, outputs down, across,
/// channels, kernel, kernel], of a flow [samples, height, width, clients, channels].
///
/// Updates are of one tensor, `from` [elements] and `to` [clients, elements], that begins with
/// parameter `first` of the model. device_updates.cpp measures and adds up in the same order.
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

// A block is one output of one client.
extern "C" __global__ void windows(const float* flow, float* windows, Long clients, Long channels,
                                   Long kernel, Long stride, Long padding, Long samples,
                                   Long height, Long width, Long down, Long across) {
  Long output = blockIdx.x, of_client = samples * down * across;
  Long client = output / of_client, place = output % of_client;
  Long sample = place / (down * across);
  int top = place / across % down * stride - padding, left = place % across * stride - padding;
  unsigned size = kernel, square = kernel * kernel, count = channels * square;
  for (unsigned at = threadIdx.x; at < count; at += blockDim.x) {
    unsigned channel = at / square, inside = at % square;
    int y = top + (int)(inside / size), x = left + (int)(inside % size);
    bool is_there = y >= 0 && y < height && x >= 0 && x < width;
    windows[output * count + at] =
        is_there ? flow[(((sample * height + y) * width + x) * clients + client) * channels + channel]
                 : 0.0f;
  }
}

// A block is 32 channels of one picture of one client.
extern "C" __global__ void windows_back(const float* windows, float* flow, Long clients,
                                        Long channels, Long kernel, Long stride, Long padding,
                                        Long samples, Long height, Long width, Long down,
                                        Long across) {
  Long client = blockIdx.x / samples, sample = blockIdx.x % samples;
  Long channel = blockIdx.y * 32LL + threadIdx.x;
  if (channel >= channels) return;
  Long count = channels * kernel * kernel;
  const float* mine = windows + blockIdx.x * down * across * count + channel * kernel * kernel;
  for (int pixel = threadIdx.y; pixel < height * width; pixel += blockDim.y) {
    int y = pixel / (int)width, x = pixel % (int)width, step = stride;
    float sum = 0;
    for (int i = 0; i < kernel; ++i) {
      int below = y + (int)padding - i;
      if (below < 0 || below % step != 0 || below / step >= down) continue;
      for (int j = 0; j < kernel; ++j) {
        int right = x + (int)padding - j;
        if (right < 0 || right % step != 0 || right / step >= across) continue;
        sum += mine[(below / step * across + right / step) * count + i * kernel + j];
      }
    }
    flow[((sample * height * width + pixel) * clients + client) * channels + channel] = sum;
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

// Of every `slice`th parameter: the sum of squares, and the largest; both are added to.
extern "C" __global__ void measure_moves(const float* from, const float* to, double* squares,
                                         double* largest, Long first, Long elements, Long slice) {
  Long at = blockIdx.x * (Long)blockDim.x + threadIdx.x, client = blockIdx.y;
  if (at >= elements || at >= slice) return;
  Long place = client * slice + (first + at) % slice;
  double square = squares[place], most = largest[place];
  for (; at < elements; at += slice) {
    double move = fabs((double)to[client * elements + at] - (double)from[at]);
    square += move * move;
    if (move > most || move != move) most = move;  // what is no number stays
  }
  squares[place] = square;
  largest[place] = most;
}

extern "C" __global__ void add_moves(const float* from, const float* to, const double* scales,
                                     Long* sums, Long elements, Long clients) {
  Long at = blockIdx.x * (Long)blockDim.x + threadIdx.x;
  if (at >= elements) return;
  Long sum = 0;
  double start = from[at];
  for (Long client = 0; client < clients; ++client) {
    double scale = scales[client];
    if (scale != 0) sum += __double2ll_rn(((double)to[client * elements + at] - start) * scale);
  }
  sums[at] = sum;
}
)";

}  // namespace ebb::fl
