# Steps of the test install/find_package; stops at the first that fails.
set(prefix "${WORK_DIR}/a prefix")  # LD_PRELOAD takes a blank for the end of a name
file(REMOVE_RECURSE ${WORK_DIR})

function(step)
  list(JOIN ARGN " " text)
  message("-- ${text}")
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()

step(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
step(${CMAKE_COMMAND} -S ${CONSUMER_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
     -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${flags})
step(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
step(${WORK_DIR}/build/consumer ${VERSION})
step(${prefix}/bin/lanescope --version)
if(NOT SANITIZE)  # the runtime cannot be preloaded into sanitized programs
  step(${CMAKE_CTEST_COMMAND} --test-dir ${WORK_DIR}/build --output-on-failure)
endif()
