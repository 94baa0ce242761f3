// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb::support {

/// What Python makes of a pickle: str() of `expression` over the loaded value `v`.
inline std::string python(const std::string& pickle, const std::string& expression) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("value.pickle", pickle);
  const Finished finished =
      run({EBB_PYTHON, "-c",
           "import pickle, sys; v = pickle.load(open(sys.argv[1], 'rb')); print((" + expression +
               "), end='')",
           path});
  return finished.status == 0 ? finished.output : "python failed: " + finished.error;
}

}  // namespace ebb::support
