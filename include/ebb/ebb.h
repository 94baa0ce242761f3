/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EBB_EBB_H
#define EBB_EBB_H

#if defined(__GNUC__)
#define EBB_API __attribute__((visibility("default")))
#else
#define EBB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The library's version, e.g. "0.1.0"; the caller does not own the text. Safe from any thread. */
EBB_API const char* ebb_version(void);

#ifdef __cplusplus
}
#endif

#endif
