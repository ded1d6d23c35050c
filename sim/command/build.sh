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
    rm -rf "$stem.headers"
    test $status != 2 || exit 2
    return $status
}

# The object of a file with kernels.
kernel_object() { # STEM SOURCE
    local stem=$1
    rewritten "$stem" "$2" "$kernel_preprocessor" --plain-host
    cat "$stem.err" >&2
    eval "$kernel_compiler" '"${std_cpp_options[@]}" "${compiler_options[@]}" -c "$stem.ii" -o "$stem.o"' || exit 2
    if test "$rename_hooks"; then sh "$home/sim/command/rename_hooks.sh" "$stem.o" || exit 2; fi
    rm -f "$stem.pre.ii" "$stem.err"
}

# The object of a file of C++. Returns 3 if the file has kernels: C++ that has kernels is CUDA C++.
host_object() { # STEM SOURCE
    local stem=$1
    if rewritten "$stem" "$2" "$host_preprocessor" --host; then
        cat "$stem.err" >&2
        eval "$host_compiler" '"${std_cpp_options[@]}" "${compiler_options[@]}" "${host_options[@]}"' \
            '-c "$stem.ii" -o "$stem.o"' || exit 2
        rm -f "$stem.pre.ii" "$stem.err"
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
