#!/bin/sh
# The style and the script of a page (common/base/page.cpp) as a header, with the script's hash for the page's policy.
#
# usage: mk/page_assets.sh STYLE SCRIPT... -o HEADER
style=$1; shift
scripts=
while test "$1" != -o; do scripts="$scripts $1"; shift; done
script=$(cat $scripts; echo .)
script=${script%.}
hash=$(printf %s "$script" | sha256sum | cut -d' ' -f1 | sed 's/../\\x&/g')
{
    printf 'constexpr char page_style[] = R"~~(%s)~~";\n' "$(cat "$style")"
    printf 'constexpr char page_script[] = R"~~(%s)~~";\n' "$script"
    printf 'constexpr char page_script_hash[] = "%s";\n' "$(env printf %b "$hash" | base64)"
} > "$2"
