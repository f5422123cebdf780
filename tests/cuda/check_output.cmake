# Runs a command and compares its standard output with a file, every line of it.
#   COMMAND_LINE  the command, a list
#   STATUS        its exit status
#   EXPECTED      the file
execute_process(COMMAND ${COMMAND_LINE} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE messages)
file(READ ${EXPECTED} expected)
if(NOT status STREQUAL STATUS OR NOT output STREQUAL expected)
  message(FATAL_ERROR "exit status ${status}, ${STATUS} is expected\n--- output, expected in ${EXPECTED}:\n${output}\n"
                      "--- messages:\n${messages}")
endif()
