// Files that are whole or not there.

#pragma once

#include <string>
#include <string_view>

namespace harness {

// Writes a file whole or not at all. The text goes to a file without a name in the folder of `path`, which takes its
// place at once, so a program that is killed leaves nothing. Where the file system has no such files, as NFS, a program
// that is killed leaves one called .new-…. The file is opened before the work, so that a path that cannot be written
// costs no results.
class WholeFile {
public:
    // `option`: the one that named the path. Throws status_bad_input.
    WholeFile(const char* option, const std::string& path);
    ~WholeFile();  // without commit(), the file is as it was before
    WholeFile(const WholeFile&) = delete;

    // Never throws for what the disk does: check() does, afterwards. It may be called where nothing may be thrown.
    void append(std::string_view text);
    // Writes what was appended. Throws status_bad_input if it, or anything before, could not be written.
    void check();
    // Writes what was appended, and puts the file in its place. Throws as check() does.
    void commit();

    // True if both files would replace the same one. A device has room for all.
    bool same_place(const WholeFile& other) const;
    const std::string& option() const { return option_; }
    const std::string& path() const { return path_; }
    // Bytes that the disk has for it; the largest number where that is unknown.
    unsigned long long room() const;

private:
    std::string folder() const;
    std::string free_name() const;
    void open_new();
    void discard();
    void flush();
    bool take_place();
    [[noreturn]] void fail(int error) const;

    std::string option_, path_, buffer_;
    std::string name_;  // that it has before it takes its place; empty: none
    int file_ = -1;
    int error_ = 0;      // errno of the first failure
    unsigned mode_ = 0;  // of the file; 0: it is a pipe or a device, open from the beginning
};

// The whole text of a file. `named`: what to call it in an error, such as "--machine my.machine". Throws
// status_bad_input.
std::string read_file(const std::string& named, const std::string& path);

// Two files of one run; either may be null. Throws status_bad_input if one would replace the other.
void refuse_one_place(const WholeFile* first, const WholeFile* second);

// Opens what is closed of standard input, output and error: a file that the program opens later must not be taken for
// one of them. Writing to standard output goes on failing.
void keep_standard_files();

}  // namespace harness
