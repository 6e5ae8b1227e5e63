// What CUDA's samples read a command line with: -name, --name and --name=value.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <strings.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#endif
#ifndef STRNCASECMP
#define STRNCASECMP strncasecmp
#endif
#ifndef STRCPY
#define STRCPY(to, bytes, from) strcpy(to, from)
#endif
#ifndef FOPEN
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#endif
#ifndef FOPEN_FAIL
#define FOPEN_FAIL(result) ((result) == NULL)
#endif
#ifndef SSCANF
#define SSCANF sscanf
#endif
#ifndef SPRINTF
#define SPRINTF sprintf
#endif

namespace isomer::emulator {
/// The text behind the name of an argument (`=value`, or empty); null where no argument has that name.
inline const char* behind_flag(int count, const char** words, const char* name) {
  const std::size_t length = std::strlen(name);
  for (int i = 1; i < count; ++i) {
    const char* word = words[i];
    if (*word != '-') continue;
    while (*word == '-') ++word;
    if (strncasecmp(word, name, length) == 0 && (word[length] == '=' || word[length] == '\0')) return word + length;
  }
  return nullptr;
}
}  // namespace isomer::emulator

inline int stringRemoveDelimiter(char delimiter, const char* text) {
  int at = 0;
  while (text[at] == delimiter) ++at;
  return at;
}
inline int getFileExtension(char* name, char** extension) {
  char* const dot = std::strrchr(name, '.');
  *extension = dot ? dot + 1 : name + std::strlen(name);
  return static_cast<int>(*extension - name);
}
inline bool checkCmdLineFlag(int count, const char** words, const char* name) {
  return isomer::emulator::behind_flag(count, words, name) != nullptr;
}
inline int getCmdLineArgumentInt(int count, const char** words, const char* name) {
  const char* rest = isomer::emulator::behind_flag(count, words, name);
  return rest && *rest == '=' ? std::atoi(rest + 1) : 0;
}
inline float getCmdLineArgumentFloat(int count, const char** words, const char* name) {
  const char* rest = isomer::emulator::behind_flag(count, words, name);
  return rest && *rest == '=' ? static_cast<float>(std::atof(rest + 1)) : 0.0f;
}
template <class T>
bool getCmdLineArgumentValue(int count, const char** words, const char* name, T* value) {
  const char* rest = isomer::emulator::behind_flag(count, words, name);
  if (rest && *rest == '=') *value = static_cast<T>(std::atoi(rest + 1));
  return rest != nullptr;
}
inline bool getCmdLineArgumentString(int count, const char** words, const char* name, char** text) {
  const char* rest = isomer::emulator::behind_flag(count, words, name);
  *text = rest && *rest == '=' ? const_cast<char*>(rest + 1) : nullptr;
  return rest != nullptr;
}

/// Beside the program and in its folders of data; null where the file is nowhere.
inline char* sdkFindFilePath(const char* name, const char*) {
  for (const char* folder : {"./", "./data/", "../data/", "../../data/", "../../../data/", "../", "./common/data/",
                             "../../common/data/", "../../../Common/data/"}) {
    const std::string path = std::string(folder) + name;
    if (std::ifstream(path).good()) return strdup(path.c_str());
  }
  return nullptr;
}
