#pragma once
#include "trace/snapshot.h"
namespace ebb::trace {
struct InitialState { std::vector<Segment> segments; std::vector<std::string> notes; };
inline InitialState initial_state(const Snapshot&, int) { return {}; }
}
