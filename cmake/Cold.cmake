# isomer_cold(target): what prepares, judges or tells is not hot. It is compiled at -O1 and, with GCC, without the passes
# that take a sixth of that and find little in such code; inlining stays.
# isomer_hot(file…): the files of a cold target that go over every element, every launch or every byte.
set(ISOMER_COLD_PASSES tree-pta tree-sra tree-dominator-opts tree-ter tree-fre tree-dse tree-ccp tree-copy-prop tree-dce
    ipa-modref ipa-pure-const ipa-reference ivopts shrink-wrap)

function(isomer_cold target)
  target_compile_options(${target} PRIVATE -O1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(TRANSFORM ISOMER_COLD_PASSES PREPEND -fno- OUTPUT_VARIABLE options)
    target_compile_options(${target} PRIVATE ${options})
  endif()
endfunction()

function(isomer_hot)
  set(options -O2)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(TRANSFORM ISOMER_COLD_PASSES PREPEND -f)
    list(APPEND options ${ISOMER_COLD_PASSES})
  endif()
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${options}")
endfunction()
