#include "driver.h"

#include <cstdio>
#include <cstring>

namespace harness {

std::string nvidia_driver()
{
    char line[256] = "", version[64] = "";
    if (FILE* file = fopen("/proc/driver/nvidia/version", "r")) {
        if (!fgets(line, sizeof line, file)) line[0] = '\0';
        fclose(file);
    }
    for (const char* word = strtok(line, " \n"); word; word = strtok(nullptr, " \n"))
        if (sscanf(word, "%63[0-9.]", version) == 1 && strchr(version, '.')) return version;
    return "";
}

}  // namespace harness
