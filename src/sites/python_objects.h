// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ebb::sites {

/// Samples from now on what CPython's allocator of small objects hands out, one by one, by standing
/// before the allocators of its domains "mem" and "obj" (PyMem_SetAllocator), and no longer the
/// arenas that they lie in. What they hand on to malloc is counted there, as before. To be called
/// once with the interpreter's lock held, before the program's first line: what was taken before
/// counts by its arenas. False where there is no such interpreter or it is hooked already. Calls
/// the dynamic loader.
bool begin_python_objects();

}  // namespace ebb::sites
