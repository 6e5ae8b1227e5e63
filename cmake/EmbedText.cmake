# Writes a C++ function that returns a file's text:
# cmake -DINPUT=file -DOUTPUT=file.cpp -DHEADER=its/declaration.hpp -DFUNCTION=namespace::name -P EmbedText.cmake
file(READ ${INPUT} text)
if(text MATCHES "\\)ISOMER\"")
  message(FATAL_ERROR "${INPUT} contains the delimiter of its literal")
endif()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nstd::string_view ${FUNCTION}() {
  static constexpr std::string_view kText = R\"ISOMER(${text})ISOMER\";\n  return kText;\n}\n")
