// SPDX-License-Identifier: Apache-2.0
#pragma once

// A loop compiled twice: for every processor of the architecture, and for those whose vectors are
// wider. Which one runs is found out where the program runs. On x86-64 the wider ones are AVX2's;
// other architectures have one kind. No fused multiplication comes with them, so that every
// operation rounds as it does elsewhere: results have the same bits.

namespace ebb::sum {

/// Whether this processor has the wider vectors, and they are in use.
bool wide_vectors();

/// Tests compare both ways. Returns whether the wide ones are in use now: not where there are none.
/// Not while another thread sums.
bool use_wide_vectors(bool on);

#if defined(__x86_64__)
template <class Loop>
[[gnu::target("avx2"), gnu::noinline]] auto with_wide_vectors(Loop loop) {
  return loop();
}
#else
template <class Loop>
auto with_wide_vectors(Loop loop) {
  return loop();
}
#endif

/// Runs `loop`. It and what it calls must be marked EBB_IN_WIDEST, else they are compiled once. It
/// should hold copies: what it refers to might be what it writes to.
template <class Loop>
auto in_widest(Loop loop) {
  return wide_vectors() ? with_wide_vectors(loop) : loop();
}

}  // namespace ebb::sum

#define EBB_IN_WIDEST __attribute__((always_inline))
