// SPDX-License-Identifier: Apache-2.0
#include "fact/site.h"

#include <gtest/gtest.h>

namespace ebb::fact {
namespace {

TEST(PlaceOfAStack, IsWhereAPersonWouldLook) {
  const SiteStack cpp = {
      {"operator new(unsigned long)", "", 0, "/lib/libstdc++.so.6"},
      {"std::vector<int, std::allocator<int> >::resize(unsigned long)", "v.h", 3, "/bin/job"},
      {"void std::__fill<int>(int*)", "v.h", 9, "/bin/job"},
      {"net::send(int)", "/src/net.cpp", 24, "/bin/job"}};
  EXPECT_EQ(place_of(cpp), "net.cpp:24 net::send");
  const SiteFrame ones = {"ones", "/usr/lib/python3/dist-packages/numpy/numeric.py", 205, ""};
  const SiteFrame load = {"load_batch", "/job/loader.py", 42, ""};
  EXPECT_EQ(place_of({ones, load}), "loader.py:42 load_batch");
  EXPECT_EQ(place_of({ones, ones, ones, ones, load}), "numeric.py:205 ones") << "too far away";
  EXPECT_EQ(place_of({{"_bootstrap", "<frozen importlib>", 9, ""}, load}),
            "loader.py:42 load_batch");
  EXPECT_EQ(place_of({ones}), "numeric.py:205 ones");
  EXPECT_EQ(place_of({{"parse", "", 0, "/lib/libfoo.so"}}), "parse (libfoo.so)");
  EXPECT_EQ(place_of({{"", "", 0, "/lib/libfoo.so"}}), "libfoo.so, no symbols");
  EXPECT_EQ(place_of({{"", "", 0, "/bin/job"}, {"start_thread", "", 0, "/lib/libc.so.6"}}),
            "job, no symbols");
  EXPECT_EQ(place_of({{"", "", 0, "?"}}), "unknown code");
  EXPECT_EQ(place_of({}), "a stack that could not be read");
}

TEST(PlaceOfAStack, HasTheFunctionsNameWithoutItsParameters) {
  const auto name = [](const char* function) {
    return place_of({{function, "/src/net.cpp", 24, "/bin/job"}});
  };
  EXPECT_EQ(name("net::(anonymous namespace)::send(int, char const*)"),
            "net.cpp:24 net::(anonymous namespace)::send");
  EXPECT_EQ(name("(anonymous namespace)::Pool::run()"),
            "net.cpp:24 (anonymous namespace)::Pool::run");
  EXPECT_EQ(name("void call<void (*)(int)>(void (*)(int))"), "net.cpp:24 void call<void (*)(int)>");
  EXPECT_EQ(name("net::send(int)::{lambda()#1}::operator()() const"), "net.cpp:24 net::send");
  EXPECT_EQ(name("main"), "net.cpp:24 main");
}

TEST(PlaceOfAStack, PassesPyTorchsOwnCallsHoweverManyTheyAre) {
  const SiteFrame linear = {"forward", "/venv/site-packages/torch/nn/modules/linear.py", 125, ""};
  const SiteFrame call = {"_call_impl", "/venv/site-packages/torch/nn/modules/module.py", 1784, ""};
  const SiteFrame block = {"forward", "/venv/site-packages/transformers/gpt2.py", 400, ""};
  const SiteFrame step = {"step", "/job/train.py", 7, ""};
  EXPECT_EQ(place_of({linear, call, call, call, call, call, step}), "train.py:7 step");
  EXPECT_EQ(place_of({{"_apply", "torch/nn/modules/module.py", 965, ""}, step}), "train.py:7 step");
  EXPECT_EQ(place_of({linear, call, block, call, step}), "train.py:7 step");
  EXPECT_EQ(place_of({linear, call, block, call, block, call, block, call, block, step}),
            "gpt2.py:400 forward")
      << "deep inside another library";
  EXPECT_EQ(place_of({linear, call}), "linear.py:125 forward") << "nobody else called";
  EXPECT_EQ(place_of({linear, {"step", "/home/me/torch/train.py", 7, ""}}), "train.py:7 step");
}

TEST(PlaceOfAStack, OfPyTorchWithoutPythonIsTheOperation) {
  EXPECT_EQ(place_of({{"c10::cuda::CUDACachingAllocator::malloc(unsigned long)", "", 0, "?"},
                      {"at::_ops::mm::call(at::Tensor const&)", "", 0, "?"},
                      {"torch::autograd::generated::MmBackward0::apply()", "", 0, "?"}}),
            "torch::autograd::generated::MmBackward0::apply");
}

TEST(StackAsJson, HasNullWhereSomethingIsNotKnown) {
  EXPECT_EQ(to_json(SiteStack{{"load", "/job/loader.py", 42, ""}, {"", "", 0, "/bin/job"}}).text(),
            R"([{"function":"load","file":"/job/loader.py","line":42,"module":null},)"
            R"({"function":null,"file":null,"line":null,"module":"/bin/job"}])");
}

}  // namespace
}  // namespace ebb::fact
