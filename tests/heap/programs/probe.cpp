// SPDX-License-Identifier: Apache-2.0
// Prints what Ebb finds out about this very process, then waits until its input closes.
#include <cstdio>
#include <cstdlib>

#include "base/json.h"
#include "heap/host_allocator.h"
#include "heap/private_copies.h"

#ifdef EBB_TAKE_ADDRESS
void* (*volatile taken)(std::size_t);
#endif

int main() {
  using namespace ebb;
#ifdef EBB_TAKE_ADDRESS
  taken = std::malloc;
#endif
  // A program that never allocates need not even link malloc's object.
  void* volatile block = std::malloc(100'000);
  const heap::Detection& found = heap::detect_here();
  base::Json copies = base::Json::array();
  for (const heap::PrivateCopy& copy : heap::private_copies_here())
    copies.push(base::Json::object(
        {{"allocator", heap::name_of(copy.identity.kind)}, {"object", copy.object}}));
  const base::Json line =
      base::Json::object({{"allocator", heap::name_of(found.kind())},
                          {"evidence", heap::name_of(found.identity.evidence)},
                          {"object", found.object},
                          {"version", heap::host_allocator().version()},
                          {"controllable", heap::host_allocator().controllable()},
                          {"live", heap::host_allocator().read().live},
                          {"copies", copies}});
  std::puts(line.text().c_str());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  std::free(block);
  return 0;
}
