# Writes a C++ file with a function that returns the text of files: cmake -DOUTPUT=file.cpp -DHEADER=its/declaration.hpp
# -DFUNCTION=namespace::name … -P Embed.cmake
# -DINPUT=file: of one file, as a std::string_view.
# -DTYPE=namespace::Type -DROOT=folder -DPATTERNS=pattern,…: of every file below the folder that matches, as a span of
# {path, text}; -DBESIDE=folder -DBESIDE_PATTERN=pattern: and of another folder's, with its name before theirs.
function(literal_of file result)
  file(READ ${file} text)
  if(text MATCHES "\\)ISOMER\"")
    message(FATAL_ERROR "${file} contains the delimiter of its literal")
  endif()
  # With its length: compilers bound the steps in which a constant may count it.
  set(${result} "R\"ISOMER(${text})ISOMER\"sv" PARENT_SCOPE)
endfunction()

if(INPUT)
  literal_of(${INPUT} text)
  set(body "std::string_view ${FUNCTION}() {\n  static constexpr std::string_view kText = ${text};\n  return kText;\n}\n")
else()
  set(entries "")
  string(REPLACE "," ";" patterns "${PATTERNS}")
  list(TRANSFORM patterns PREPEND ${ROOT}/)
  file(GLOB_RECURSE paths RELATIVE ${ROOT} ${patterns})
  list(SORT paths)
  foreach(path IN LISTS paths)
    literal_of(${ROOT}/${path} text)
    string(APPEND entries "    {\"${path}\", ${text}},\n")
  endforeach()
  if(BESIDE)
    get_filename_component(name ${BESIDE} NAME)
    file(GLOB paths RELATIVE ${BESIDE} ${BESIDE}/${BESIDE_PATTERN})
    foreach(path IN LISTS paths)
      literal_of(${BESIDE}/${path} text)
      string(APPEND entries "    {\"${name}/${path}\", ${text}},\n")
    endforeach()
  endif()
  set(body "std::span<const ${TYPE}> ${FUNCTION}() {\n  static constexpr ${TYPE} kTexts[] = {\n${entries}  };\n  return kTexts;\n}\n")
endif()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nusing namespace std::string_view_literals;\n\n${body}")
