// SPDX-License-Identifier: Apache-2.0
#include <ebb/ebb.hpp>
#include <iostream>

int main() {
  std::cout << "ebb " << ebb::version() << '\n';
}
