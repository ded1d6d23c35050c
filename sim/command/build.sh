# shellcheck shell=bash
# Compiles and links programs for the simulator. sim/simcuda and mk/try.sh read this file. Each needs $home, the folder
# that has sim/ and build/; build/commands/simcuda gives the commands.
#
# A file with kernels passes through three programs: the preprocessor, build/rewrite and the compiler. Arrays hold the
# options of the person who builds. Each function writes STEM.o, and what is made on the way next to it. It exits with 2
# if the file is refused or does not compile.

# Commands in variables name the variables here: eval reads them.
# shellcheck disable=SC2034,SC2154

cpp_options=() std_cpp_options=() std_c_options=() host_options=() compiler_options=() linker_options=()

# shellcheck source=/dev/null
read_commands() { . "$home/build/commands/simcuda" && . "$home/build/commands/simcuda-gpu"; }

rewrite() { "$home/build/rewrite" --own "$home/sim/cuda" "$@"; }

# preprocess STEM COMMAND...: what the command says goes to STEM.err. A full disk has no room for that, so it is kept
# here until it is written.
preprocess() {
    local stem=$1 said status=0
    shift
    said=$(eval "$*" 2>&1) || status=$?
    printf '%s' "${said:+$said$'\n'}" 2> /dev/null > "$stem.err" || { printf '%s\n' "$said" >&2; exit 2; }
    return $status
}

# rewritten STEM SOURCE PREPROCESSOR REWRITER'S-OPTIONS: writes STEM.ii. The headers of libraries that the simulator
# does not have are replaced by empty ones, each after one more try. Returns 3 if a file of the host has kernels.
rewritten() {
    local stem=$1 source=$2 status=4
    while test $status = 4; do
        status=0
        # shellcheck disable=SC2086
        if preprocess "$stem" "$3" '-isystem "$stem.headers" -I"$(dirname "$source")" "${cpp_options[@]}"' \
                '"${std_cpp_options[@]}" "${compiler_options[@]}" -E "$source" -o "$stem.pre.ii"'
        then rewrite $4 --columns --headers "$stem.headers" "$stem.pre.ii" > "$stem.ii" || status=$?
        else rewrite --missing --headers "$stem.headers" "$stem.err" || status=$?
        fi
    done
    test $status != 2 || exit 2
    return $status
}

# has_two_sides STEM SOURCE: true if a file of the program asks for __CUDA_ARCH__, which device code alone has. Then
# STEM.host.ii is the program as the host has it.
has_two_sides() {
    local stem=$1 source=$2
    sed -n 's/^# [0-9]* "\([^<].*\)".*/\1/p' "$stem.pre.ii" | sort -u | grep -v "^/usr/\|^$home/sim/" |
        tr '\n' '\0' | xargs -0 grep -qsw __CUDA_ARCH__ &&
        eval "$kernel_preprocessor" '-U__CUDA_ARCH__ -isystem "$stem.headers" -I"$(dirname "$source")"' \
            '"${cpp_options[@]}" "${std_cpp_options[@]}" "${compiler_options[@]}" -E "$source" -o "$stem.host.ii"' \
            2> /dev/null
}

# ask_clang STEM SOURCE: writes what clang says of calls between the host and the device to STEM.sides. The rewriter
# tells them apart by names. Where these leave it open, and there is no clang, the program gets to know of it.
ask_clang() {
    local stem=$1 source=$2 side
    : > "$stem.sides"
    grep -q '^// sim: ask clang' "$stem.ii" || return 0
    if ! command -v clang++ > /dev/null; then
        echo 'extern "C" { __attribute__((weak, used)) extern const char sim_sides_by_names[] = ""; }' >> "$stem.ii"
        return
    fi
    for side in host device; do
        clang++ -x cuda --cuda-$side-only --cuda-gpu-arch=sm_80 -fsyntax-only -nocudainc -nocudalib --cuda-path=/ -w \
            -ferror-limit=0 -std=c++17 -DSIMULATOR -D__CUDACC__ -D__NVCC__ -isystem "$home/sim/cuda" \
            -isystem "$home/build/cuda" -include cuda_runtime.h -include "$home/sim/command/clang_words.h" \
            -isystem "$stem.headers" -I"$(dirname "$source")" "${cpp_options[@]}" "${std_cpp_options[@]}" \
            -MF /dev/null "$source" 2>&1 |
            awk -f "$home/sim/command/sides.awk" >> "$stem.sides" &
    done
}

# What the compiler says of kernels, without warnings about the simulator's text, and without carets far to the right:
# the text of a line has been added to.
program_warnings() {
    awk -v own="$home/sim/" '/: (warning|error): /{ shown = /: error: / || !(/sim_|sim::/ || index($0, own) == 1) }
        /: In |^In file/ { held = held $0 "\n"; next }
        shown { printf "%s", held; if (length < 160 || !/^[ |~^]*$/) print } { held = "" }'
}

# The object of a file with kernels.
kernel_object() { # STEM SOURCE
    local stem=$1 compiler=$kernel_compiler warnings=() option
    rewritten "$stem" "$2" "$kernel_preprocessor" --plain-host
    if has_two_sides "$stem" "$2"; then
        rewrite --plain-host --columns --headers "$stem.headers" --host-text "$stem.host.ii" "$stem.pre.ii" \
            > "$stem.ii" || exit 2
    fi
    cat "$stem.err" >&2
    ask_clang "$stem" "$2"
    for option in "${host_options[@]}"; do [[ $option != -W* ]] || warnings+=("$option"); done
    if test ${#warnings[@]} != 0; then compiler=${compiler/ -w / }; fi
    (
        set -o pipefail
        eval "$compiler" '"${warnings[@]}" "${std_cpp_options[@]}" "${compiler_options[@]}" -c "$stem.ii"' \
            '-o "$stem.o"' 2>&1 | program_warnings >&2
    ) || exit 2
    wait
    if test -s "$stem.sides"; then sort -u "$stem.sides" >&2; exit 2; fi
    if test "$rename_hooks"; then sh "$home/sim/command/rename_hooks.sh" "$stem.o" || exit 2; fi
    rm -rf "$stem.pre.ii" "$stem.host.ii" "$stem.err" "$stem.sides" "$stem.headers"
}

# The object of a file of C++. Returns 3 if the file has kernels: C++ that has kernels is CUDA C++.
host_object() { # STEM SOURCE
    local stem=$1
    if rewritten "$stem" "$2" "$host_preprocessor" --host; then
        cat "$stem.err" >&2
        eval "$host_compiler" '"${std_cpp_options[@]}" "${compiler_options[@]}" "${host_options[@]}"' \
            '-c "$stem.ii" -o "$stem.o"' || exit 2
        rm -rf "$stem.pre.ii" "$stem.err" "$stem.headers"
    else
        test $? = 3 || exit 2
        kernel_object "$stem" "$2"
        return 3
    fi
}

# The object of a file of C.
c_object() { # STEM SOURCE
    local stem=$1 source=$2
    preprocess "$stem" "$c_preprocessor" '-I"$(dirname "$source")" "${cpp_options[@]}" "${std_c_options[@]}"' \
            '"${compiler_options[@]}" -E "$source" -o "$stem.pre.i"' ||
        { rewrite --c --missing "$stem.err"; exit 2; }
    cat "$stem.err" >&2
    rewrite --c --columns "$stem.pre.i" > "$stem.i" || exit 2
    eval "$c_compiler" '"${std_c_options[@]}" "${compiler_options[@]}" "${host_options[@]}"' \
        '-c "$stem.i" -o "$stem.o"' || exit 2
    rm -f "$stem.pre.i" "$stem.err"
}

# The object of a file, by what the file is. Returns 3 as host_object does.
object() { # KIND STEM SOURCE
    case $1 in
        cu) kernel_object "$2" "$3" ;;
        cpp) host_object "$2" "$3" ;;
        c) c_object "$2" "$3" ;;
    esac
}

# True if the compiler watches accesses in the object.
is_watched() { nm "$1" 2> /dev/null | grep -q ' U __\(tsan\|sim\)_\(read\|write\)'; }

# Watched objects come before the plain ones. Of a function in a header that both have, the linker then takes the
# watched copy.
link() { # PROGRAM OBJECT...
    local program=$1 watched=() plain=() file
    shift
    for file in "$@"; do
        if [[ $file = *.o ]] && is_watched "$file"; then watched+=("$file"); else plain+=("$file"); fi
    done
    eval "$linker" '-o "$program"' "$libraries" '"${watched[@]}" "${plain[@]}" "${linker_options[@]}"' \
        '"${compiler_options[@]}"' "$more_libraries"
}
