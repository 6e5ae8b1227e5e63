# isomer_precompile(target header…): what most files of the target include, and the standard headers that nearly all of them
# do, are read once. JSON is not worth it: most of what it costs comes after it has been read. Files with options of
# their own are left out, and a compiler cache takes no part in it unless it is told what it may overlook.
# isomer_precompile(target FROM other): with the headers of a target that has the same options.
function(isomer_precompile target)
  if(CMAKE_CXX_COMPILER_LAUNCHER OR NOT ISOMER_UNITY_BYTES)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 given "" "FROM" "")
  if(given_FROM)
    target_precompile_headers(${target} REUSE_FROM ${given_FROM})
  else()
    foreach(header IN ITEMS algorithm array cmath filesystem functional map memory optional set sstream string unordered_map
            utility variant vector LISTS given_UNPARSED_ARGUMENTS)
      target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
    endforeach()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
