# shellcheck shell=bash
# A folder for the files of one run. Several runs at once have one each, and it has its name when all files are there.
# For scripts that include this file.
#
# begin_folder RESULTS NAME   makes $folder, RESULTS/incomplete-NAME-DATE-XXXX. If the script ends early, the folder
#                             stays unless it is empty, and a line on stderr names it
# end_folder                  renames it, and $folder with it, to RESULTS/NAME-DATE-XXXX

begin_folder() {
    if ! folder=$(mkdir -p "$1" && mktemp -d "$1/incomplete-$2-$(date -u +%Y%m%dT%H%M%SZ)-XXXX" 2>&1); then
        echo "$1: a folder for results cannot be made there; RESULTS=FOLDER names another" >&2
        exit 2
    fi
    chmod "$(printf %o $((0777 & ~0$(umask))))" "$folder"
    trap 'rmdir "$folder" 2> /dev/null || echo "the results so far are in $folder" >&2' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

end_folder() {
    local complete=${folder/incomplete-/}
    mv -T "$folder" "$complete"
    folder=$complete
    trap - EXIT INT TERM HUP
}
