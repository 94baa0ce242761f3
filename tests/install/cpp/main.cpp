// SPDX-License-Identifier: Apache-2.0
// A C++ program against the installed library: cleans up, and prints the version if that worked.
#include <ebb/ebb.hpp>
#include <iostream>

int main() {
  ebb::RoundKeeper keeper = ebb::RoundKeeper::every("trainer", 1);
  const auto report = keeper.round_done();
  if (!report || report->rss_after_bytes == 0) return 1;
  std::cout << "ebb " << ebb::version() << '\n';
}
