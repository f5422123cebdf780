# Flags of every target of this project: the language, the warnings, the sanitizers, ccache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# The CUDA runtime replacement is a shared library made from the same objects.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(LANESCOPE_CCACHE ccache)
  mark_as_advanced(LANESCOPE_CCACHE)
  if(LANESCOPE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${LANESCOPE_CCACHE})
  endif()
endif()

add_compile_options(-Wall -Wextra -Wpedantic)
# g++ 12 sees overlapping copies in std::string's operator+ where there are none (GCC bug 105329, mended in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)
endif()
# PTX says of each instruction whether it rounds once or twice; the host compiler must not fuse on its own.
add_compile_options(-ffp-contract=off)

# lanescope_unity(TARGET): its files may be compiled as one, but for those that declare CUDA's functions as what they are not.
function(lanescope_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LANESCOPE_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "/(stubs|entry_table)\\.cpp$")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
if(LANESCOPE_UNITY)
  add_compile_options(-Wno-subobject-linkage)  # a file's own types are then in no main file
endif()

if(LANESCOPE_WERROR)
  add_compile_options(-Werror)
endif()

if(LANESCOPE_SANITIZE)
  add_compile_options(-fsanitize=${LANESCOPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LANESCOPE_SANITIZE})
endif()

if(LANESCOPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "LANESCOPE_FUZZ needs clang: configure with -DCMAKE_CXX_COMPILER=clang++")
  endif()
  # libFuzzer is led by the coverage of everything that it runs.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# For code that computes little: optimised little, it compiles in half the time.
if(LANESCOPE_SANITIZE)
  set(LANESCOPE_COMPILE_FAST -O0)
else()
  set(LANESCOPE_COMPILE_FAST $<$<CONFIG:Release>:-O1>)
endif()
