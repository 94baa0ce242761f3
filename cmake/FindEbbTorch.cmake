# Finds libtorch: Debian's libtorch-dev, or the one inside a PyTorch wheel where EBB_TORCH_ROOT names
# its folder (`python3 -c 'import torch; print(torch.__path__[0])'`). Torch's own package file is not
# used: with CUDA it asks for a whole toolkit, which only kernels need.
#
# Gives the target EbbTorch::torch.
set(EBB_TORCH_ROOT "$ENV{EBB_TORCH_ROOT}" CACHE PATH "Folder of libtorch; empty: the system's")
if(EBB_TORCH_ROOT)
  set(only NO_DEFAULT_PATH)
endif()
find_path(EbbTorch_INCLUDE_DIR ATen/ATen.h HINTS "${EBB_TORCH_ROOT}" PATH_SUFFIXES include ${only})
foreach(library IN ITEMS torch_cpu c10)
  find_library(EbbTorch_${library}_LIBRARY ${library} HINTS "${EBB_TORCH_ROOT}" PATH_SUFFIXES lib
               ${only})
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(EbbTorch REQUIRED_VARS EbbTorch_torch_cpu_LIBRARY
                                  EbbTorch_c10_LIBRARY EbbTorch_INCLUDE_DIR)
if(EbbTorch_FOUND AND NOT TARGET EbbTorch::torch)
  add_library(EbbTorch::torch INTERFACE IMPORTED)
  target_include_directories(EbbTorch::torch INTERFACE "${EbbTorch_INCLUDE_DIR}")
  target_link_libraries(EbbTorch::torch INTERFACE "${EbbTorch_torch_cpu_LIBRARY}"
                                                  "${EbbTorch_c10_LIBRARY}")
  # CUDA's part announces itself when it is loaded; nothing calls it by name.
  foreach(library IN ITEMS torch_cuda c10_cuda)
    find_library(EbbTorch_${library}_LIBRARY ${library} HINTS "${EBB_TORCH_ROOT}" PATH_SUFFIXES lib
                 ${only})
  endforeach()
  if(EbbTorch_torch_cuda_LIBRARY)
    target_link_libraries(EbbTorch::torch INTERFACE -Wl,--no-as-needed
                                                    "${EbbTorch_torch_cuda_LIBRARY}"
                                                    "${EbbTorch_c10_cuda_LIBRARY}"
                                                    -Wl,--as-needed)
  endif()
endif()
mark_as_advanced(EbbTorch_INCLUDE_DIR)
