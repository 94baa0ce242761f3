// SPDX-License-Identifier: Apache-2.0
// `make run`: what a fragmented heap holds after its job freed 99.5 % of it, and what comes back.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/bytes.h"
#include "base/text.h"
#include "heap/fragmentation.h"
#include "term/progress.h"
#include "term/table.h"

namespace {

using namespace ebb;
using bench::HeapLife;

void show(const term::Style& style, const char* what, double rss, double full,
          term::Colour colour) {
  std::printf("  %-24s %s %s\n", what, style.paint(term::bar(rss / full, 40), colour).c_str(),
              base::bytes_text(static_cast<std::uint64_t>(rss)).c_str());
}

}  // namespace

int main(int count, char** words) {
  if (bench::run_as_child({words + 1, words + count})) return 0;
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  std::puts(
      "A job takes 600 MB in blocks of 30 kB and frees 99.5 % of them: 3 MB are still in use.\n"
      "What is its resident memory then, and after a cleanup?\n");
  for (const bench::Subject& subject : bench::subjects()) {
    HeapLife nvflare;
    HeapLife ebb;
    {
      term::Progress progress(subject.name);
      progress.show(0, "NVFlare's cleanup");
      nvflare = bench::fragmentation_in_child(subject, "nvflare");
      progress.show(0.5, "Ebb's cleanup");
      ebb = bench::fragmentation_in_child(subject, "ebb");
    }
    std::printf("%s\n", style.paint(subject.name, term::Colour::bold).c_str());
    show(style, "everything in use", ebb.full, ebb.full, term::Colour::dim);
    show(style, "99.5 % freed", ebb.freed, ebb.full, term::Colour::yellow);
    show(style, "after NVFlare's cleanup", nvflare.cleaned, ebb.full, term::Colour::red);
    show(style, "after Ebb's cleanup", ebb.cleaned, ebb.full, term::Colour::green);
    if (ebb.returned_share() > 0.01) {
      std::printf("  %.1f %% of what it had taken is back with the system\n\n",
                  ebb.returned_share() * 100);
    } else {
      std::puts("  this allocator gives nothing back from outside: see it started differently\n");
    }
  }
  const HeapLife trim = bench::threads_in_child("trim", false);
  const HeapLife deep = bench::threads_in_child("deep", false);
  std::printf(
      "%s\n",
      style.paint("glibc, 20 threads that took 51 MB each and freed it all", term::Colour::bold)
          .c_str());
  show(style, "all freed", deep.freed, deep.full, term::Colour::yellow);
  show(style, "after malloc_trim(0)", trim.cleaned, deep.full, term::Colour::red);
  show(style, "after Ebb's cleanup", deep.cleaned, deep.full, term::Colour::green);
  return 0;
}
