# shellcheck shell=bash
# A text on one line of a terminal: control characters are written as bash would read them, $'\E'. To be sourced.

shown() { # TEXT
    local LC_ALL=C.UTF-8
    if [[ $1 == *[![:print:]]* ]]; then printf '%q' "$1"; else printf '%s' "$1"; fi
}
