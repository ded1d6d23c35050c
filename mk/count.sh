#!/bin/sh
# Reads what `make -n COUNTING=1` prints. Prints how many files make will make, and about how many seconds that takes on
# one idle core. The seconds for each kind of file are rough means, measured once; they set the order of magnitude.
#
# usage: mk/count.sh < LINES      a line of a file: : counted 'KIND' 'WHAT'; COMMAND
#        mk/count.sh FILES SECONDS JOBS      prints a line in advance, if it takes 10 seconds or more
if test $# = 0; then
    awk "/^: counted '/ {
        files += 1
        if (\$3 == \"'nvcc'\") seconds += 10
        else if (\$0 ~ /'C\\+\\+' '[a-z\\/]+: /) seconds += 5  # a room, all its files at once
        else if (\$3 == \"'sim'\") seconds += 1.5
        else if (\$0 ~ /'C\\+\\+' 'build\\/rewrite'/) seconds += 4
        else seconds += 0.5
    } END { print files + 0, int(seconds) }"
    exit
fi
seconds=$(($2 / $3))
test $seconds -ge 10 || exit 0
if test $seconds -ge 55; then time="$(((seconds + 30) / 60)) min"; else time="$(((seconds + 4) / 5 * 5)) s"; fi
echo "  $1 files to make, on $3 idle cores in about $time" | sed 's/ 1 idle cores/ one idle core/'
