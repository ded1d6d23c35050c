#!/usr/bin/env bash
# What each room weighs, in kB of code: tools/weigh.sh [COMMIT...] (default: HEAD). One column for each commit.
# Data (CSV, SVG, lock files) have rows of their own, and pages have one.
set -euo pipefail
cd "$(dirname "$0")/.."

weigh() {
    git ls-tree -r -l --full-tree "$1" | awk '{
        split($5, folder, "/"); room = folder[1]
        if (room ~ /^step0/) room = "steps"
        else if (room == "Makefile" || room ~ /^\./) room = "mk"
        if ($5 ~ /\.(cu|cuh|cpp|h|inc|py|js|css|sh|mk)$|(^|\/)(Makefile|simcuda)$|^sim\/cuda\/[^.]*$/) code[room] += $4
        else if ($5 ~ /\.md$/) code["pages"] += $4
        else code[room " data"] += $4
    } END { for (room in code) {
                printf "%s\t%.0f\n", room, code[room] / 1000
                if (room !~ /data$|tests|pages/) sum += code[room]
            }
            printf "code outside tests\t%.0f\n", sum / 1000 }' | sort
}

test $# -gt 0 || set -- HEAD
{ printf 'kB\t%s\n' "$(printf '%s\t' "$@")"
  rows=$(for commit; do weigh "$commit" | cut -f 1; done | sort -u)
  while read -r room; do
      printf '%s' "$room"
      for commit; do printf '\t%s' "$(weigh "$commit" | awk -F '\t' -v room="$room" '$1 == room { print $2 }')"; done
      printf '\n'
  done <<< "$rows"
} | awk -F '\t' '{ printf "%-20s", $1; for (i = 2; i <= NF; ++i) printf "%10s", substr($i, 1, 9); print "" }'
