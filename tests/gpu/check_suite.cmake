# Runs the suite of a program of bench/gpu on the engine, at 1/64 of its sizes: its results must be right, and each kernel
# must cost the wavefronts of shared memory that the program prints, which it has from the model and its own source.
#   LANESCOPE  the command line
#   PROGRAM    the program
#   REPORT     a file for the report
cmake_minimum_required(VERSION 3.25)
execute_process(
  COMMAND ${LANESCOPE} run --no-merge --format json -o ${REPORT} -- ${PROGRAM} suite smaller=6 repeats=1
  RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE messages)
set(shown "${PROGRAM} suite: status ${status}\n${printed}\n${messages}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${shown}")
endif()

# What is printed: a name, four numbers, and the wavefronts, in one table for each size.
set(names)
string(REPLACE "\n" ";" lines "${printed}")
foreach(line IN LISTS lines)
  if(line MATCHES "^([a-z0-9_:]+) +[0-9.]+ +[0-9.]+ .* ([0-9]+)$")
    if(NOT CMAKE_MATCH_1 IN_LIST names)
      list(APPEND names ${CMAKE_MATCH_1})
      set(printed_${CMAKE_MATCH_1} 0)
    endif()
    math(EXPR printed_${CMAKE_MATCH_1} "${printed_${CMAKE_MATCH_1}} + ${CMAKE_MATCH_2}")
  endif()
endforeach()

# What the engine counts, in one launch of each shape.
foreach(name IN LISTS names)
  set(counted_${name} 0)
endforeach()
file(READ ${REPORT} report)
string(JSON launches LENGTH "${report}" launches)
math(EXPR last "${launches} - 1")
foreach(i RANGE ${last})
  string(JSON launch GET "${report}" launches ${i})
  string(JSON kernel GET "${launch}" kernel)
  string(JSON times GET "${launch}" launches)
  string(JSON wavefronts GET "${launch}" metrics memory_l1_wavefronts_shared)
  if(kernel MATCHES "lanescope::kernels::transposing::")
    set(name lanescope::kernels::transpose)
  else()
    string(REGEX REPLACE "^reduce_|_512$" "" name "${kernel}")
  endif()
  if(name IN_LIST names)
    math(EXPR counted_${name} "${counted_${name}} + ${wavefronts} / ${times}")
  endif()
endforeach()

list(LENGTH names kernels)
message("${kernels} kernels:")
set(wrong 0)
foreach(name IN LISTS names)
  message("${name}: ${printed_${name}} wavefronts predicted, ${counted_${name}} counted")
  if(NOT printed_${name} EQUAL counted_${name})
    math(EXPR wrong "${wrong} + 1")
  endif()
endforeach()
if(kernels LESS 5 OR wrong)
  message(FATAL_ERROR "${wrong} of them are not equal\n${shown}")
endif()
