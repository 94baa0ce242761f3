// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target where the compiler brings no libFuzzer, on as many cores as processes are
// started: inputs of a corpus, mutated at random. Knows nothing of coverage.
//
//   TARGET SECONDS SEED CORPUS_FOLDER
//
// An input that fails is left in `crash-SEED`, since whatever the target does about it ends the
// process.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
constexpr std::size_t kLongest = 4096;

std::vector<Input> corpus_in(const char* folder) {
  std::vector<Input> corpus;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

Input mutated(const std::vector<Input>& corpus, std::mt19937_64& random) {
  Input input = corpus[random() % corpus.size()];
  for (std::uint64_t left = 1 + random() % 8; left > 0; --left) {
    const auto at = static_cast<std::ptrdiff_t>(random() % (input.size() + 1));
    const bool inside = at < static_cast<std::ptrdiff_t>(input.size());
    switch (random() % 5) {
      case 0:
        if (inside) input[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random());
        break;
      case 1:
        if (inside)
          input[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1U << random() % 8);
        break;
      case 2:
        input.insert(input.begin() + at, static_cast<std::uint8_t>(random()));
        break;
      case 3:
        if (inside) input.erase(input.begin() + at);
        break;
      default: {
        const Input& other = corpus[random() % corpus.size()];
        const auto from = static_cast<std::ptrdiff_t>(random() % (other.size() + 1));
        input.insert(input.begin() + at, other.begin() + from, other.end());
      }
    }
  }
  if (input.size() > kLongest) input.resize(kLongest);
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Input> corpus = argc == 4 ? corpus_in(argv[3]) : std::vector<Input>();
  if (corpus.empty()) {
    std::fprintf(stderr, "usage: %s SECONDS SEED CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  for (const Input& input : corpus) {
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::mt19937_64 random(static_cast<std::uint64_t>(std::atoll(argv[2])));
  const std::string crash = std::string("crash-") + argv[2];
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  std::uint64_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    const Input input = mutated(corpus, random);
    std::ofstream(crash, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()),
               static_cast<std::streamsize>(input.size()));
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::filesystem::remove(crash);
  std::printf("%llu inputs, none failed\n", static_cast<unsigned long long>(runs));
  return 0;
}
