#!/bin/bash
# Builds programs that are brought along, for the simulator or with nvcc for the GPU. mk/try.mk gives the commands, in
# variables whose names begin with TRY_.
#
# usage: mk/try.sh --run [ARGUMENT...]      builds the program of the files in $FILE, and runs it on the simulator
#        mk/try.sh --gpu [ARGUMENT...]      the same with nvcc, on the GPU
#        mk/try.sh --object OBJECT SOURCE   compiles one .cu file; OBJECT's .d has what it depends on
#        mk/try.sh --link PROGRAM OBJECT... links
#
# Built programs are kept in build/tried or, where the checkout cannot be written, in the user's cache. Exits with 2 if
# a file is refused or does not compile, else with the program's status.

# Commands in variables name the variables here: eval reads them.
# shellcheck disable=SC2034,SC2206

. mk/shown.sh
refuse() { echo "make try: $*" >&2; exit 2; }

# preprocess STEM COMMAND...: what the command says goes to STEM.err. A full disk has no room for that, so it is kept
# here until it is written.
preprocess() {
    local stem=$1 said status=0; shift
    said=$(eval "$*" 2>&1) || status=$?
    printf '%s' "${said:+$said$'\n'}" 2> /dev/null > "$stem.err" || { printf '%s\n' "$said" >&2; exit 2; }
    return $status
}

# rewritten STEM SOURCE PREPROCESSOR'S-OPTIONS REWRITER'S-OPTIONS: writes STEM.ii. The headers of libraries that the
# simulator does not have are replaced by empty ones, each after one more try. Returns 3 if a file of the host has
# kernels.
rewritten() {
    local stem=$1 source=$2 status=4
    while test $status = 4; do
        status=0
        if preprocess "$stem" "$TRY_CXX -isystem \"\$stem.headers\" $3 -I\"\$(dirname \"\$source\")\"" \
                "$TRY_CPPFLAGS" '-E "$source" -o "$stem.pre.ii"'
        then build/rewrite $4 --columns --headers "$stem.headers" "$stem.pre.ii" > "$stem.ii" || status=$?
        else build/rewrite --missing --headers "$stem.headers" "$stem.err" || status=$?
        fi
    done
    rm -rf "$stem.headers"
    test $status != 2 || exit 2
    return $status
}

# The object STEM.o of a file with kernels.
kernel_object() { # STEM SOURCE [PREPROCESSOR'S-OPTIONS]
    local stem=$1
    rewritten "$stem" "$2" "$TRY_KERNEL_CPP $3" --plain-host
    cat "$stem.err" >&2
    eval "$TRY_KERNELS" '-c "$stem.ii" -o "$stem.o"' || exit 2
    if test "$RENAME_HOOKS"; then sh mk/rename_hooks.sh "$stem.o"; fi
    rm -f "$stem.pre.ii" "$stem.err"
}

# The object STEM.o of a file of C++. Returns 3 if the file has kernels: C++ that has kernels is CUDA C++.
host_object() { # STEM SOURCE
    local stem=$1
    if rewritten "$stem" "$2" "$TRY_HOST_CPP" --host; then
        cat "$stem.err" >&2
        eval "$TRY_HOST" '-c "$stem.ii" -o "$stem.o"' || exit 2
        rm -f "$stem.pre.ii" "$stem.err"
    else
        test $? = 3 || exit 2
        kernel_object "$stem" "$2"
        return 3
    fi
}

# The object STEM.o of a file of C.
c_object() { # STEM SOURCE
    local stem=$1 source=$2
    preprocess "$stem" "$TRY_CC $TRY_C_CPP -I\"\$(dirname \"\$source\")\" $TRY_C_CPPFLAGS" \
            '-E "$source" -o "$stem.pre.i"' ||
        { build/rewrite --c --missing "$stem.err"; exit 2; }
    cat "$stem.err" >&2
    build/rewrite --c --columns "$stem.pre.i" > "$stem.i" || exit 2
    eval "$TRY_C" '-c "$stem.i" -o "$stem.o"' || exit 2
    rm -f "$stem.pre.i" "$stem.err"
}

link() { # PROGRAM OBJECT...
    local program=$1; shift
    eval "$TRY_LINK" '-o "$program"' "$TRY_LIBRARIES" '"$@"' "$TRY_LDLIBS"
}

# The files of $FILE, in the array `files`. A name with spaces is one file if there is such a file.
find_files() {
    test -n "$FILE" || refuse 'no program given; write make try FILE=program.cu'
    if test -f "$FILE"; then files=("$FILE"); else files=($FILE); fi
    local file name
    for file in "${files[@]}"; do
        name=$(shown "$file")
        test -f "$file" || refuse "FILE=$name: no such file"
        # compilers and make print names as they are
        [[ $name == "$file" ]] || refuse "FILE=$name: a character of the name cannot be shown; rename the file"
        case $file in
            *.cu | *.cpp | *.cc | *.cxx | *.c) ;;
            *) refuse "FILE=$name is no .cu, .cpp or .c file" ;;
        esac
    done
}

# Several may run at once. Each builds in a folder of its own, and moves whole files to one that is named after the
# program's folder, since many programs are called main.cu.
make_folder() {
    local tried=build/tried
    mkdir -p $tried 2> /dev/null && test -w $tried || tried=${XDG_CACHE_HOME:-$HOME/.cache}/transpose/tried
    name=$(basename "${files[0]%.*}")
    kept=$tried/$(dirname "${files[0]}" | tr -c 'A-Za-z0-9=+\n-' _ | tail -c 200)
    mkdir -p "$kept" && own=$(mktemp -d "$tried/XXXXXX") || exit 2
    trap 'test $? != 2 || say_if_full; keep' EXIT
    trap 'exit 2' HUP INT TERM
}
# A compiler may say anything but that.
say_if_full() {
    local left
    left=$(df -Pk "$own" | awk 'NR == 2 { print $4 }')
    test "$left" -ge 10000 ||
        echo "make try: ${own%/*}: the disk is full: $left KB are left, and a program needs up to 10 MB" >&2
}
keep() { mv -f "$own"/file* "$kept" 2> /dev/null; rm -rf "$own"; }

# The program takes the shell's place, and with it the signals.
run() { # NAME [ARGUMENT...]
    mv -f "$own/$1" "$kept" || exit 2
    keep
    trap - EXIT HUP INT TERM
    exec "$kept/$1" "${@:2}"
}

# The instrumented objects come before the plain ones. Of a function in a header that both have, the linker then takes
# the instrumented copy.
build() {
    local file stem n=0 instrumented=() plain=()
    for file in "${files[@]}"; do
        n=$((n + 1)) stem=$own/file$n
        case $file in
            *.cpp | *.cc | *.cxx)
                if host_object "$stem" "$file"; then plain+=("$stem.o"); else instrumented+=("$stem.o"); fi ;;
            *.c) c_object "$stem" "$file"; plain+=("$stem.o") ;;
            *.cu) kernel_object "$stem" "$file"; instrumented+=("$stem.o") ;;
        esac
    done
    link "$own/$name" "${instrumented[@]}" "${plain[@]}" && return
    nm "${instrumented[@]}" "${plain[@]}" | grep -q ' T main$' ||
        refuse "FILE=$(shown "$FILE") has no function main, which launches the kernels"
    exit 2
}

what=$1; shift
case $what in
    --run)
        find_files; make_folder; build
        run "$name" "$@" ;;
    --gpu)
        test -n "$TRY_NVCC" || { echo 'make try DEVICE=cuda: needs nvcc' >&2; exit 2; }
        find_files; make_folder
        eval "$TRY_NVCC" '"${files[@]}" -o "$own/$name.gpu"' || exit 2
        run "$name.gpu" "$@" ;;
    --object)
        new=${1%.o}.$$
        trap 'rm -rf "$new".*' EXIT
        trap 'exit 2' HUP INT TERM
        mkdir -p "$(dirname "$1")"
        kernel_object "$new" "$2" "-MD -MP -MF '$new.d' -MT '$1'"
        mv "$new.d" "${1%.o}.d" && mv "$new.o" "$1" ;;
    --link)
        new=$1.$$
        trap 'rm -f "$new"' EXIT
        trap 'exit 2' HUP INT TERM
        link "$new" "${@:2}" && mv "$new" "$1" ;;
esac
