// SPDX-License-Identifier: Apache-2.0
#include "keep/start_script.h"

#include "base/text.h"
#include "keep/job_environment.h"

namespace ebb::keep {
namespace {

constexpr const char* kBeginning = R"(#!/bin/sh
# Starts a job with the environment that suits a %s:
#
#   sh THIS_FILE COMMAND [ARGUMENT...]
#
# What is set already stays as it is.
if [ "$#" -eq 0 ]; then
  echo "usage: $0 COMMAND [ARGUMENT...]" >&2
  exit 2
fi

)";

// $EBB_PRELOAD_ROOT is in front of the folders, for a root that is mounted elsewhere.
constexpr const char* kJemalloc =
    R"(if [ "${NVFLARE_ENABLE_JEMALLOC_PRELOAD:-false}" = "true" ]; then
  ebb_found=
  for ebb_folder in "/usr/lib/$(uname -m)-linux-gnu" /usr/lib64 /usr/lib \
      /usr/local/lib64 /usr/local/lib; do
    for ebb_name in libjemalloc.so.2 libjemalloc.so; do
      if [ -z "$ebb_found" ] && [ -f "${EBB_PRELOAD_ROOT:-}$ebb_folder/$ebb_name" ]; then
        ebb_found="${EBB_PRELOAD_ROOT:-}$ebb_folder/$ebb_name"
      fi
    done
  done
  if [ -n "$ebb_found" ]; then
    export LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$ebb_found"
    export MALLOC_CONF="${MALLOC_CONF:-%s}"
    echo "Using jemalloc: $ebb_found" >&2
  else
    echo "jemalloc is not installed: %s; the job starts without it" >&2
  fi
fi
)";

}  // namespace

base::Result<JemallocUse> jemalloc_use_for(const std::string& allocator) {
  if (allocator.empty() || allocator == "glibc") return JemallocUse::by_opt_in;
  if (allocator == "jemalloc") return JemallocUse::always;
  return base::error(base::Code::bad_input,
                     "--allocator '%s' with --shell script: expected glibc or jemalloc",
                     allocator.c_str());
}

std::string start_script(Role role, JemallocUse jemalloc, std::optional<int> arenas) {
  std::string script = base::format_text(kBeginning, name_of(role));
  script += "# jemalloc serves malloc if this is asked for, and if it is installed.\n";
  if (jemalloc == JemallocUse::always) script += "NVFLARE_ENABLE_JEMALLOC_PRELOAD=true\n";
  script += base::format_text(kJemalloc, kJemallocSettings,
                              heap::how_to_install(heap::AllocatorKind::jemalloc));
  script += "\n# What follows is for glibc; other allocators ignore it.\n";
  script += environment_text(job_environment(role, std::nullopt, arenas), ShellSyntax::sh);
  return script + "\nexec \"$@\"\n";
}

}  // namespace ebb::keep
