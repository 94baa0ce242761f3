// SPDX-License-Identifier: Apache-2.0
// What depends on the process: its C++ runtime, its environment, its forks. Each test is a process
// of its own, torch_probe.
#include <gtest/gtest.h>
#include <signal.h>

#include <regex>

#include "support/subprocess.h"

namespace {

using ebb::support::Finished;
using Environment = ebb::support::Subprocess::Environment;

Environment with(Environment extra) {
  Environment all{{"EBB_TORCH_DRIVER", "mmap:256MiB"},
                  {"EBB_TORCH_VERSION", ""},
                  {"PYTORCH_CUDA_ALLOC_CONF", ""},
                  {"PYTORCH_ALLOC_CONF", ""},
                  {"EBB_LOG", ""}};
  all.insert(all.end(), extra.begin(), extra.end());
  return all;
}

Finished probe(const std::vector<std::string>& words, const Environment& extra = {},
               const std::string& program = EBB_TORCH_PROBE) {
  std::vector<std::string> command{program, EBB_LIBRARY};
  command.insert(command.end(), words.begin(), words.end());
  return ebb::support::run(command, with(extra));
}

bool matches(const std::string& text, const char* pattern) {
  return std::regex_match(text, std::regex(pattern));
}

TEST(TorchProcess, OutOfMemoryIsAnExceptionOfTheProcesssOwnRuntime) {
  const Finished done = probe({"alloc", "536870912", "0", "alloc", "1024", "0"});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_TRUE(matches(done.output,
                      "runtime_error, 0 uncaught: CUDA out of memory\\. Tried to allocate 512\\.00 "
                      "MiB\\. GPU 0 has a total capacity of 256\\.00 MiB [^\\n]*is reserved by "
                      "PyTorch but unallocated\\.[^\\n]* Ebb: device 0: no memory for 512\\.0 MiB "
                      "[^\\n]*\\nmemory\\n"))
      << done.output;
}

#ifdef EBB_TORCH_PROBE_STATIC
TEST(TorchProcess, AProgramThatCouldNotCatchItDiesWithTheMessage) {
  const Finished done = probe({"alloc", "536870912", "0"}, {}, EBB_TORCH_PROBE_STATIC);
  EXPECT_EQ(done.status, -SIGABRT);
  EXPECT_TRUE(
      matches(done.error, "ebb: [^\\n]*CUDA out of memory\\.[^\\n]*no C\\+\\+ runtime[^\\n]*\\n"))
      << done.error;
  EXPECT_EQ(probe({"alloc", "512", "0", "free", "0"}, {}, EBB_TORCH_PROBE_STATIC).output,
            "memory\nfreed\n");
}
#endif

TEST(TorchProcess, PrivatePoolsAreRefused) {
  const Finished done = probe({"pool", "alloc", "1024", "0"});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_TRUE(matches(done.output, "runtime_error: Ebb [^\\n]*private pools[^\\n]*\\nmemory\\n"))
      << done.output;
}

TEST(TorchProcess, ZeroBytesAreNullAndNegativeOnesTooMany) {
  const Finished done = probe({"alloc", "0", "0", "free", "0", "alloc", "-8", "0"});
  EXPECT_EQ(done.status, 0);
  EXPECT_TRUE(matches(done.output,
                      "null\\nfreed\\nruntime_error, 0 uncaught: CUDA out of memory\\. "
                      "Tried to allocate more than 1EB memory\\.[^\\n]*\\n"))
      << done.output;
  EXPECT_EQ(done.error, "");
}

TEST(TorchProcess, EveryReasonNotToServeIsThrownInOneLine) {
  struct Case {
    Environment environment;
    const char* device;
    const char* says;
  };
  const Case cases[] = {
      {{{"EBB_TORCH_VERSION", "1.13"}}, "0", "\\$EBB_TORCH_VERSION: .*1\\.13.*"},
      {{{"PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:abc"}},
       "0",
       "\\$PYTORCH_CUDA_ALLOC_CONF: .*"},
      {{{"PYTORCH_ALLOC_CONF", "no_such_key:1"}}, "0", "\\$PYTORCH_ALLOC_CONF: .*no_such_key.*"},
      {{{"PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync"}},
       "0",
       ".*cudaMallocAsync.*native.*"},
      {{{"EBB_TORCH_DRIVER", "floppy"}}, "0", "\\$EBB_TORCH_DRIVER: 'floppy', expected cuda.*"},
      {{{"EBB_TORCH_DRIVER", "cuda:"}}, "0", "\\$EBB_TORCH_DRIVER: 'cuda:', expected cuda.*"},
      {{{"EBB_TORCH_DRIVER", "mmap:many"}}, "0", "\\$EBB_TORCH_DRIVER: .*many.*"},
      {{{"EBB_TORCH_DRIVER", "cuda:/no/such/libcuda.so.1"}},
       "0",
       "CUDA driver not found: .*/no/such/libcuda.so.1.*"},
      {{}, "1", "device 1: expected 0 to 0, the devices of this process"},
      {{}, "-1", "device -1: expected 0 to 0, the devices of this process"},
      {{}, "1000", "device 1000: expected 0 to 0, the devices of this process"},
  };
  for (const Case& test : cases) {
    const Finished done = probe({"alloc", "512", test.device}, test.environment);
    EXPECT_EQ(done.status, 0);
    EXPECT_TRUE(matches(done.output,
                        (std::string("runtime_error, 0 uncaught: ") + test.says + "\\n").c_str()))
        << done.output << test.says;
  }
}

TEST(TorchProcess, SettingsAreReadAsThatPyTorchReadsThem) {
  // The newer name counts from 2.10 on, and 512 MB in segments of 256 fit no card of 256 MiB.
  const Environment limit{{"PYTORCH_ALLOC_CONF", "per_process_memory_fraction:0.1"}};
  const Finished now = probe({"alloc", "33554432", "0"}, limit);
  EXPECT_TRUE(matches(now.output, "runtime_error[^\\n]* 25\\.60 MiB allowed; [^\\n]*\\n"))
      << now.output;
  Environment then = limit;
  then.emplace_back("EBB_TORCH_VERSION", "2.9.1+cu128");
  EXPECT_EQ(probe({"alloc", "33554432", "0"}, then).output, "memory\n");
}

TEST(TorchProcess, AMemoryFractionLimitsWhatIsTaken) {
  const Finished done =
      probe({"fraction", "0.5", "alloc", "104857600", "0", "alloc", "104857600", "0"});
  EXPECT_TRUE(
      matches(done.output, "memory\\nruntime_error[^\\n]* 128\\.00 MiB allowed; [^\\n]*\\n"))
      << done.output;
  const Finished wrong = probe({"fraction", "1.5"});
  EXPECT_EQ(wrong.status, 0);
  EXPECT_TRUE(matches(wrong.error, "ebb: [^\\n]*ebb_torch_memory_fraction: [^\\n]*1\\.5[^\\n]*\\n"))
      << wrong.error;
}

TEST(TorchProcess, FreeingWhatIsNotInUseIsOneLineAndNoHarm) {
  const char* pattern =
      "ebb: [^\\n]*ebb_torch_free: 0x[0-9a-f]+ on device 0 is not in use: freed twice, or not from "
      "ebb_torch_alloc\\n";
  const Finished unused = probe({"drop", "0x12345", "0"});
  EXPECT_EQ(unused.status, 0);
  EXPECT_TRUE(matches(unused.error, pattern)) << unused.error;
  const Finished twice =
      probe({"alloc", "512", "0", "free", "0", "free", "0", "alloc", "512", "0"});
  EXPECT_EQ(twice.output, "memory\nfreed\nfreed\nmemory\n");
  EXPECT_TRUE(matches(twice.error, pattern)) << twice.error;
  const Finished elsewhere = probe({"alloc", "512", "0", "free", "7"});
  EXPECT_NE(elsewhere.error.find("on device 7"), std::string::npos) << elsewhere.error;
}

TEST(TorchProcess, InitSaysWhatIsWrongFromTheStart) {
  EXPECT_EQ(probe({"init", "1", "alloc", "512", "0"}).error, "");
  const Finished missing = probe({"init", "2"});
  EXPECT_NE(missing.error.find("2 devices expected, the mmap driver has 1"), std::string::npos)
      << missing.error;
  const Finished wrong = probe({"init", "1"}, {{"EBB_TORCH_DRIVER", "floppy"}});
  EXPECT_EQ(wrong.status, 0);
  EXPECT_NE(wrong.error.find("ebb_torch_init: $EBB_TORCH_DRIVER"), std::string::npos)
      << wrong.error;
}

TEST(TorchProcess, AChildForkedAfterUseGetsAClearError) {
  for (const char* driver : {"mmap:256MiB", "cuda:" EBB_FAKE_CUDA}) {
    const Finished done =
        probe({"alloc", "512", "0", "fork", "free", "0", "alloc", "512", "0", "alloc", "512", "1"},
              {{"EBB_TORCH_DRIVER", driver}});
    EXPECT_EQ(done.status, 0);
    EXPECT_TRUE(matches(done.output,
                        "memory\\nfreed\\n(runtime_error, 0 uncaught: device memory was in use "
                        "before this process was forked [^\\n]*spawn[^\\n]*\\n){2}"))
        << done.output;
    EXPECT_EQ(done.error, "") << "dropping what was inherited is nothing to tell";
  }
}

TEST(TorchProcess, AChildForkedBeforeUseIsServed) {
  const Finished done = probe({"fork", "alloc", "512", "0", "free", "0"},
                              {{"EBB_TORCH_DRIVER", "cuda:" EBB_FAKE_CUDA}});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.output, "memory\nfreed\n");
}

}  // namespace
