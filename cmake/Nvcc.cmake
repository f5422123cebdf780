# Finds nvcc for tests, examples and benchmarks, which are written for CUDA 13 (programs that are run may be of older
# releases). LANESCOPE_NVCC is its path, LANESCOPE_NVCC_RELEASE as in 13.5; or it is empty, and LANESCOPE_NO_NVCC says why.
find_program(LANESCOPE_NVCC nvcc HINTS /usr/local/cuda/bin)
mark_as_advanced(LANESCOPE_NVCC)
set(LANESCOPE_NO_NVCC "nvcc was not found")
if(LANESCOPE_NVCC)
  execute_process(COMMAND ${LANESCOPE_NVCC} --version OUTPUT_VARIABLE version ERROR_QUIET)
  string(REGEX MATCH "release (([0-9]+)[.][0-9]+)" version "${version}")
  set(LANESCOPE_NVCC_RELEASE "${CMAKE_MATCH_1}")
  if(NOT CMAKE_MATCH_2 STREQUAL "13")
    set(LANESCOPE_NO_NVCC "nvcc is none of CUDA 13 but ${LANESCOPE_NVCC}, ${version}")
    set(LANESCOPE_NVCC "")
  endif()
endif()
