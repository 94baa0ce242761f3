// SPDX-License-Identifier: Apache-2.0
#include "fact/memory_split.h"

namespace ebb::fact {

using base::Json;

namespace {

Json json_of(const Fix& fix) {
  if (fix.text.empty()) return {};
  return Json::object({{"kind", name_of(fix.kind)}, {"text", fix.text}, {"bytes", fix.bytes}});
}

Json json_of(const std::optional<std::vector<SiteShare>>& sites) {
  if (!sites) return {};
  Json all = Json::array();
  for (const SiteShare& site : *sites)
    all.push(Json::object({{"place", site.place}, {"bytes", site.bytes}}));
  return all;
}

}  // namespace

std::vector<MemorySplit::Part> MemorySplit::parts() const {
  return {{"live", "live heap", live},
          {"retained", "retained", retained},
          {"private", "private allocators", private_allocators},
          {"python", "Python's arenas", python},
          {"copies", "copies after fork", copies},
          {"supervisor", "ebb itself", supervisor},
          {"shared", "shared memory", shared},
          {"tmpfs", "tmpfs", tmpfs},
          {"cache_dirty", "page cache, dirty", cache_dirty},
          {"cache_clean", "page cache, clean", cache_clean},
          {"slab", "kernel: slab", slab},
          {"sockets", "kernel: sockets", sockets},
          {"kernel_stacks", "kernel: stacks", kernel_stacks},
          {"page_tables", "kernel: page tables", page_tables},
          {"kernel_other", "kernel: other", kernel_other},
          {"unexplained", "unexplained", unexplained}};
}

Json to_json(const MemorySplit& split) {
  Json parts = Json::object();
  for (const MemorySplit::Part& part : split.parts())
    parts.set(std::string(part.name) + "_bytes", part.bytes);
  Json processes = Json::array();
  for (const MemorySplit::Share& share : split.processes)
    processes.push(Json::object({{"pid", std::int64_t{share.pid}},
                                 {"name", share.name},
                                 {"bytes", share.bytes},
                                 {"live_bytes", share.live},
                                 {"untouched_bytes", share.untouched},
                                 {"sites", json_of(share.sites)}}));
  Json notes = Json::array();
  for (const std::string& note : split.notes)
    notes.push(note);
  return Json::object({{"seconds", split.seconds},
                       {"age_seconds", split.age},
                       {"usage_bytes", split.usage},
                       {"limit_bytes", split.limit},
                       {"untouched_bytes", split.untouched},
                       {"parts", std::move(parts)},
                       {"processes", std::move(processes)},
                       {"after_bytes", split.after},
                       {"notes", std::move(notes)},
                       {"fix", json_of(split.fix)}});
}

}  // namespace ebb::fact
