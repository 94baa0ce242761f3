// SPDX-License-Identifier: Apache-2.0
// Two tables: a fragmented heap on every allocator, and thread arenas on glibc.
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

std::string mib(double bytes) {
  return base::format_text("%.0f", bytes / double(base::kMiB));
}
std::string ms(double seconds) {
  return base::format_text("%.0f", seconds * 1e3);
}
std::string percent(double share) {
  return base::format_text("%.1f %%", share * 100);
}

}  // namespace

int main(int count, char** words) {
  if (bench::run_as_child({words + 1, words + count})) return 0;

  term::Table heaps({{"allocator", term::Align::left},
                     {"base"},
                     {"full"},
                     {"freed"},
                     {"after NVFlare's"},
                     {"after Ebb's"},
                     {"returned by NVFlare's"},
                     {"returned by Ebb's"},
                     {"ms"}});
  const auto subjects = bench::subjects();
  {
    term::Progress progress("measuring");
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      progress.show(double(i) / double(subjects.size()), subjects[i].name);
      const HeapLife nvflare = bench::fragmentation_in_child(subjects[i], "nvflare");
      const HeapLife ebb = bench::fragmentation_in_child(subjects[i], "ebb");
      heaps.add_row({subjects[i].name, mib(ebb.base), mib(ebb.full), mib(ebb.freed),
                     mib(nvflare.cleaned), mib(ebb.cleaned), percent(nvflare.returned_share()),
                     percent(ebb.returned_share()), ms(ebb.seconds)});
    }
  }
  std::printf(
      "600 MB in blocks of 30 kB, 99.5 %% freed, then a cleanup. RSS in MiB; returned = share of\n"
      "what the job had taken (full - base) that is back with the system.\n\n%s\n",
      heaps.markdown().c_str());

  term::Table arenas({{"20 threads, 51 MB each, all freed (glibc)", term::Align::left},
                      {"full"},
                      {"freed"},
                      {"after"},
                      {"returned"},
                      {"ms"}});
  for (const bool alive : {false, true}) {
    for (const char* cleanup : {"trim", "deep"}) {
      const HeapLife life = bench::threads_in_child(cleanup, alive);
      arenas.add_row({std::string(cleanup == std::string("trim") ? "malloc_trim(0)" : "Ebb, deep") +
                          (alive ? ", threads alive" : ", threads ended"),
                      mib(life.full), mib(life.freed), mib(life.cleaned),
                      percent(life.returned_share()), ms(life.seconds)});
    }
  }
  std::printf("%s", arenas.markdown().c_str());
  return 0;
}
