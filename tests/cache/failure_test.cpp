// SPDX-License-Identifier: Apache-2.0
#include "cache/failure.h"

#include <gtest/gtest.h>

#include "cache/fixture.h"

namespace ebb::cache {
namespace {

TEST(Failure, HoldsWhatAPersonNeedsToKnow) {
  World world;
  world.set_limit(100 * kMiB);
  world.allocate(70 * kMiB);
  const Address hole = world.allocate(8 * kMiB, 1);
  world.allocate(9 * kMiB, 1);
  world.free(hole);
  EXPECT_EQ(world.allocate(20 * kMiB, 1), 0U);
  const Failure& failure = world.core->last_failure();
  EXPECT_EQ(failure.kind, FailureKind::out_of_memory);
  EXPECT_EQ(failure.requested, 20 * kMiB);
  EXPECT_EQ(failure.segment, 20 * kMiB);
  EXPECT_EQ(failure.stream, 1U);
  EXPECT_EQ(failure.limit, 100 * kMiB);
  EXPECT_EQ(failure.reserved, 90 * kMiB);
  EXPECT_EQ(failure.allocated, 79 * kMiB);
  EXPECT_EQ(failure.inactive_split, 11 * kMiB);
  EXPECT_EQ(failure.largest_free, 8 * kMiB);
  EXPECT_EQ(failure.largest_free_usable, 8 * kMiB);
  EXPECT_EQ(failure.device_free, 80 * kGiB - 90 * kMiB);
  EXPECT_TRUE(failure.retried);
  EXPECT_FALSE(failure.is_fragmentation());
  EXPECT_NEAR(failure.fragmentation(), 11.0 / 90, 1e-9);
  EXPECT_EQ(summary_of(failure),
            "device 0: no memory for 20.0 MiB (a segment of 20.0 MiB): reserved 90.0 MiB, "
            "allocated 79.0 MiB, fragmentation 12 %, largest free block 8.0 MiB (usable here 8.0 "
            "MiB), device free 79.9 GiB, limit 100.0 MiB; tried: overflow pools, releasing the "
            "cache 0 B and once more");
}

TEST(Failure, SpeaksPyTorchsWordsOfThatVersion) {
  Failure failure;
  failure.kind = FailureKind::out_of_memory;
  failure.segment = 20 * kMiB;
  failure.device_total = 80 * kGiB;
  failure.device_free = 3 * kGiB;
  failure.limit = 40 * kGiB;
  failure.allocated = 30 * kGiB;
  failure.reserved = 39 * kGiB;
  failure.private_free = 512 * kMiB;
  const auto text = [&](int minor, bool expandable = false) {
    return message_of(failure, *profile_of(minor), expandable);
  };
  EXPECT_EQ(text(11),
            "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 80.00 "
            "GiB of which 3.00 GiB is free. 40.00 GiB allowed; Of the allocated memory 30.50 GiB "
            "is allocated by PyTorch, with 512.00 MiB allocated in private pools (e.g., CUDA "
            "Graphs), and 8.50 GiB is reserved by PyTorch but unallocated. If reserved but "
            "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:"
            "True to avoid fragmentation.  See documentation for Memory Management  "
            "(https://docs.pytorch.org/docs/stable/notes/"
            "cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)");
  EXPECT_NE(text(1).find("capacty"), std::string::npos);
  EXPECT_NE(text(1).find("max_split_size_mb"), std::string::npos);
  EXPECT_EQ(text(4).find("allowed"), std::string::npos);
  EXPECT_EQ(text(3).find("private pools"), std::string::npos);
  EXPECT_NE(text(13, true).find("expandable_segments:True"), std::string::npos);
  EXPECT_EQ(text(14, true).find("expandable_segments:True"), std::string::npos);
}

TEST(Failure, WritesSizesAsPyTorchDoes) {
  EXPECT_EQ(torch_size_text(1024), "1024 bytes");
  EXPECT_EQ(torch_size_text(1025), "1.00 KiB");
  EXPECT_EQ(torch_size_text(kMiB), "1024.00 KiB");
  EXPECT_EQ(torch_size_text(20 * kMiB), "20.00 MiB");
  EXPECT_EQ(torch_size_text(kGiB), "1024.00 MiB");
  EXPECT_EQ(torch_size_text(kGiB + 1), "1.00 GiB");
}

TEST(Failure, IsFragmentationWhenEnoughWasFreeInPieces) {
  World world;
  world.set_limit(60 * kMiB);
  std::vector<Address> blocks;
  for (int i = 0; i < 6; ++i) {
    blocks.push_back(world.allocate(9 * kMiB));
  }
  world.free(blocks[0]);
  world.free(blocks[2]);
  world.free(blocks[4]);
  EXPECT_EQ(world.allocate(25 * kMiB), 0U);
  EXPECT_TRUE(world.core->last_failure().is_fragmentation());
}

TEST(Failure, OfTheDriverIsPassedOnAsItsError) {
  Failure failure;
  failure.kind = FailureKind::driver_error;
  failure.driver = base::error(base::Code::io, "CUDA_ERROR_ILLEGAL_ADDRESS");
  const base::Error error = error_of(failure, *profile_of(11), false);
  EXPECT_EQ(error.code, base::Code::io);
  EXPECT_EQ(error.message, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

}  // namespace
}  // namespace ebb::cache
