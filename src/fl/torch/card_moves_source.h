// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUDA C++, compiled at run time after card_kernels_source.h. A part of card_kernels.cpp.

namespace ebb::fl {

/// Updates are of one tensor, `from` [elements] and `to` [clients, elements], that begins with
/// parameter `first` of the model. device_updates.cpp measures and adds up in the same order.
inline constexpr const char* kMoveKernels = R"(
// Where an element of `to` is: weights of convolutions have their channels last, after all `square`
// pixels of a window.
__device__ unsigned placed(unsigned at, unsigned channels, unsigned square) {
  if (square == 1) return at;
  unsigned pixel = at % square, channel = at / square % channels;
  return at - at % (square * channels) + pixel * channels + channel;
}

// The sum of squares of every `slice`th parameter, which is added to, and the largest move of each
// client, as the bits of a double: what is no number has the most.
extern "C" __global__ void measure_moves(const float* from, const float* to, double* squares,
                                         unsigned long long* largest, Long first, Long elements,
                                         Long slice, Long channels, Long square) {
  Long at = blockIdx.x * (Long)blockDim.x + threadIdx.x, client = blockIdx.y;
  double most = 0;
  if (at < elements && at < slice) {
    Long place = client * slice + (first + at) % slice;
    double sum = squares[place];
    for (; at < elements; at += slice) {
      double move = fabs((double)to[client * elements + placed(at, channels, square)] -
                         (double)from[at]);
      sum += move * move;
      if (move > most || move != move) most = move;  // what is no number stays
    }
    squares[place] = sum;
  }
  unsigned long long bits = __double_as_longlong(most);
  for (int other = 16; other > 0; other /= 2) {
    unsigned long long theirs = __shfl_down_sync(0xffffffffu, bits, other);
    if (theirs > bits) bits = theirs;
  }
  // One of each block to one place: those who meet there wait for each other.
  __shared__ unsigned long long of_warps[32];
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = bits;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned i = 1; i < blockDim.x / 32; ++i)
    if (of_warps[i] > bits) bits = of_warps[i];
  atomicMax(largest + client, bits);
}

extern "C" __global__ void add_moves(const float* __restrict__ from, const float* __restrict__ to,
                                     const double* __restrict__ scales, Long* __restrict__ sums,
                                     Long elements, Long clients, Long channels, Long square) {
  Long at = blockIdx.x * (Long)blockDim.x + threadIdx.x;
  if (at >= elements) return;
  Long sum = 0;
  double start = from[at];
  const float* mine = to + placed(at, channels, square);
#pragma unroll 8
  for (Long client = 0; client < clients; ++client) {
    double scale = scales[client], moved = ((double)mine[client * elements] - start) * scale;
    if (scale != 0) sum += __double2ll_rn(moved);  // what does not count may be no number
  }
  sums[at] = sum;
}
)";

}  // namespace ebb::fl
