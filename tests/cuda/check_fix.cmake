# `lanescope fix --apply` on a CUDA program, in a folder of its own outside of the source tree, so that no other file is
# found: shown, proven and kept; then with a build command that makes another program of the changed source.
#   LANESCOPE  the program          SOURCE  of the device code
#   BEFORE, AFTER  programs that were made of SOURCE, and of what `fix` makes of it
execute_process(COMMAND mktemp -d OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

# expect(STATUS REGEX TEXT OPTIONS…): fix on ./app ends so, writes something that matches, and leaves a source with TEXT.
function(expect status expression text)
  file(COPY ${SOURCE} DESTINATION ${folder}/tests/cuda)
  file(COPY_FILE ${BEFORE} ${folder}/app)
  execute_process(COMMAND ${LANESCOPE} fix ${ARGN} -- ./app WORKING_DIRECTORY ${folder}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE messages)
  file(READ ${folder}/tests/cuda/stub_kernels.cu source)
  string(FIND "${source}" "${text}" at)
  if(NOT result STREQUAL status OR NOT output MATCHES "${expression}" OR at EQUAL -1)
    file(REMOVE_RECURSE ${folder})
    message(FATAL_ERROR "fix ${ARGN}\nstatus: ${result}\n${output}\n${messages}\n${source}")
  endif()
endfunction()

# A build command that does `then` for the source as it was and `otherwise` for a changed one.
function(write_build then otherwise)
  file(WRITE ${folder}/build.sh
       "if cmp -s tests/cuda/stub_kernels.cu ${SOURCE}\nthen ${then}\nelse ${otherwise}\nfi\n")
endfunction()
set(apply --apply --build "sh build.sh")

expect(0 "\\+  __shared__ int tile.32..32 \\+ 1.;" "tile[32][32];")
write_build("cp ${BEFORE} app" "cp ${AFTER} app")
expect(0 "Proven and kept: same output, wavefronts of tile as predicted" "tile[32][32 + 1];" ${apply})
write_build("cp ${BEFORE} app" "true")
expect(3 "wavefronts of tile were predicted, there are [0-9,]+, as before" "tile[32][32];" ${apply})
write_build("cp ${BEFORE} app" "printf '#!/bin/sh\\n${AFTER} | sed s/scaled/wrong/\\n' > app")
expect(3 "line 1 of the program's output was 'scaled' and is now 'wrong'" "tile[32][32];" ${apply})
file(REMOVE_RECURSE ${folder})
