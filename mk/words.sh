#!/bin/bash
# Runs a command with the words of a variable after its own. Quotes hold a name with spaces together, as in the shell.
# Nothing else is special: the text may have any character, and no command in it runs.
#
# usage: mk/words.sh VARIABLE COMMAND...
variable=$1; shift
mapfile -d '' -t words < <(printf %s "${!variable}" | xargs -r printf '%s\0' 2> /dev/null && printf 'whole\0')
if test "${words[*]: -1}" != whole; then echo "$variable=${!variable}: a quote is not closed" >&2; exit 2; fi
exec "$@" "${words[@]:0:${#words[@]}-1}"
