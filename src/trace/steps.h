#pragma once
#include "trace/snapshot.h"
namespace ebb::trace {
struct Steps { std::vector<std::size_t> starts; };
inline Steps find_steps(const Snapshot&, int) { return {}; }
}
