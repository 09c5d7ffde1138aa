# polyc_add_sources: C files of a target whose loops go through polyc.
#
#   include(PolycCompile.cmake)
#   add_executable(blur main.c)
#   polyc_add_sources(blur blur.c OPTIONS --machine host)
#
# Each file is compiled by polyc with the include folders and macros of the target, and with OPTIONS, before the C
# compiler sees it, with OpenMP where CMake finds it. What changed is built again, and nothing else: a file, a header that
# it includes, the options. For CPUs: the targets openmp (polyc's default) and c. Needs CMake 3.20.
#
# POLYC is the command; a list where it has several words.
include_guard(GLOBAL)

if(NOT POLYC)
  find_program(POLYC polyc DOC "The polyc command" REQUIRED)
endif()
find_package(OpenMP COMPONENTS C)
if(NOT OpenMP_C_FOUND)
  message(WARNING "no OpenMP for C: what polyc makes runs on one thread")
endif()

function(polyc_add_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;OPTIONS")
  set(sources ${arg_UNPARSED_ARGUMENTS} ${arg_SOURCES})
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "polyc_add_sources: there is no target '${target}'")
  endif()
  if(NOT sources)
    message(FATAL_ERROR "polyc_add_sources: name the C files of '${target}'")
  endif()
  if("${arg_OPTIONS}" MATCHES "cuda|opencl")
    message(FATAL_ERROR "polyc_add_sources is for CPUs: call polyc in a custom command of its own for a GPU")
  endif()

  set(folders "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(macros "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(given "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>" "$<$<BOOL:${macros}>:-D$<JOIN:${macros},;-D>>")
  set(options ${arg_OPTIONS})
  set(made "${CMAKE_CURRENT_BINARY_DIR}/polyc/${target}")

  # Makefiles do not see that a command has other options: the output depends on a file with them. CMake writes it
  # where they change.
  file(GENERATE OUTPUT "${made}/options-$<CONFIG>.txt" CONTENT "${POLYC};${given};${options}\n")

  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE)
    get_filename_component(folder "${path}" DIRECTORY)
    file(RELATIVE_PATH name "${CMAKE_CURRENT_SOURCE_DIR}" "${path}")
    string(REPLACE ".." "up" name "${name}")
    string(REGEX REPLACE "\\.c$" "" name "${name}")
    set(output "${made}/${name}.polyc.c")
    get_filename_component(output_folder "${output}" DIRECTORY)
    file(MAKE_DIRECTORY "${output_folder}")
    add_custom_command(
      OUTPUT "${output}"
      COMMAND ${POLYC} compile "${path}" "${given}" ${options} -q -MD -MF "${output}.d" -o "${output}"
      DEPENDS "${path}" "${made}/options-$<CONFIG>.txt"
      DEPFILE "${output}.d"
      COMMENT "polyc ${source}"
      COMMAND_EXPAND_LISTS VERBATIM
    )
    # What the file includes with quotes is still beside the original.
    set(flags "-iquote${folder}" ${OpenMP_C_FLAGS})
    set_property(SOURCE "${output}" APPEND PROPERTY COMPILE_OPTIONS ${flags})
    set_property(TARGET "${target}" APPEND PROPERTY SOURCES "${output}")
  endforeach()
  if(OpenMP_C_FOUND)
    set_property(TARGET "${target}" APPEND PROPERTY LINK_LIBRARIES "$<LINK_ONLY:OpenMP::OpenMP_C>")
  endif()
endfunction()
