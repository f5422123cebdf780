# lanescope_test(TARGET [ARGS …] [OPTIONS …]): the test lanescope.TARGET runs the CUDA program TARGET without a GPU. It
# fails when the program fails, or when a kernel of it has a defect (out of bounds, deadlock, …).
#   ARGS     the program's arguments
#   OPTIONS  of `lanescope run`, for example --kernel, --arch, -o
function(lanescope_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ARGS;OPTIONS")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lanescope_test: unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  add_test(NAME lanescope.${target}
           COMMAND ${LANESCOPE_PROGRAM} run ${arg_OPTIONS} -- $<TARGET_FILE:${target}> ${arg_ARGS})
endfunction()
