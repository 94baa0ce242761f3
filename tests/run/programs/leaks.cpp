// SPDX-License-Identifier: Apache-2.0
// leaks WHICH STOP: three functions that use new; WHICH says which of them keeps what it makes (0:
// none). Half of the work is done on a thread. Ends once the file STOP is there.
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct Message {
  std::vector<double> numbers;
};
std::vector<std::unique_ptr<Message>> queue;
std::vector<std::vector<char>> history;
std::vector<double*> arrays;

}  // namespace

[[gnu::noinline]] void send_message(bool keep) {
  auto message = std::make_unique<Message>();
  message->numbers.resize(6000);  // line 24
  if (keep) queue.push_back(std::move(message));
}

[[gnu::noinline]] void remember_answer(bool keep) {
  std::vector<char> answer(48 << 10);  // line 29
  if (keep) history.push_back(std::move(answer));
}

[[gnu::noinline]] void make_array(bool keep) {
  double* const array = new double[6000]();  // line 34
  if (keep) {
    arrays.push_back(array);
  } else {
    delete[] array;
  }
}

int main(int argc, char** argv) {
  const int which = argc > 2 ? std::atoi(argv[1]) : 0;
  while (argc > 2 && ::access(argv[2], F_OK) != 0) {
    std::thread([which] {
      for (int i = 0; i < 8; ++i)
        send_message(which == 1);
    }).join();
    for (int i = 0; i < 8; ++i) {
      remember_answer(which == 2);
      make_array(which == 3);
    }
    ::usleep(20000);
  }
  return 0;
}
