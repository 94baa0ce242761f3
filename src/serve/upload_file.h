// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "pack/byte_source.h"

namespace ebb::serve {

/// A new file on disk that has no name and that nobody else can open: it is gone with its
/// descriptor. In $TMPDIR, /var/tmp (which, unlike /tmp, is no memory anywhere) or /tmp.
base::Result<base::FileDescriptor> unnamed_file();

/// What was uploaded into it, unpacked where it is gzip: 1 GiB at most, since a small file may hold
/// terabytes. `name` begins the messages.
base::Result<std::unique_ptr<pack::ByteSource>> source_of_upload(base::FileDescriptor body,
                                                                 const std::string& name);

}  // namespace ebb::serve
