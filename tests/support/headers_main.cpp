// SPDX-License-Identifier: Apache-2.0
// Only there to be compiled with the headers that all tests share.
int main() {
  return 0;
}
