#!/bin/sh
# Prints files as an initializer of C++, {"h100.machine", R"(...)"}, and so on: programs have them built in.
#
# usage: mk/embed.sh FILE...
for file in "$@"; do
    printf '{"%s", R"text(' "${file##*/}"
    cat "$file" || exit
    printf ')text"},\n'
done
