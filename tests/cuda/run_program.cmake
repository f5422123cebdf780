# Runs a command and checks what it prints and how it ends.
#   COMMAND_LINE  the command, a list
#   STATUS        its exit status
#   OUTPUT        regular expressions that its standard output holds, in this order (a list)
#   MESSAGES      the same for its standard error
#   WITHOUT       a regular expression that neither holds
#   INPUT         a file for its standard input
set(input)
if(INPUT)
  set(input INPUT_FILE ${INPUT})
endif()
execute_process(COMMAND ${COMMAND_LINE} ${input} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE messages)
set(shown "${COMMAND_LINE}\nstatus: ${status}\n--- output:\n${output}\n--- messages:\n${messages}")
if(NOT status STREQUAL STATUS)
  message(FATAL_ERROR "exit status ${STATUS} is expected\n${shown}")
endif()

function(expect text)
  # Tables are padded and paragraphs wrapped: white space of any length counts as one space.
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  foreach(expression IN LISTS ARGN)
    string(REGEX MATCH "${expression}" match "${text}")
    if(match STREQUAL "")
      message(FATAL_ERROR "not found (after what was found before it): ${expression}\n${shown}")
    endif()
    string(FIND "${text}" "${match}" at)
    string(LENGTH "${match}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${text}" ${at} -1 text)
  endforeach()
endfunction()

expect("${output}" ${OUTPUT})
expect("${messages}" ${MESSAGES})
if(WITHOUT AND ("${output}" MATCHES "${WITHOUT}" OR "${messages}" MATCHES "${WITHOUT}"))
  message(FATAL_ERROR "found, though it should not be there: ${WITHOUT}\n${shown}")
endif()
