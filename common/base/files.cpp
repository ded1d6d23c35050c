#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>

#include "error.h"

namespace harness {
namespace {

constexpr size_t buffer_bytes = 1 << 20;

bool write_all(int file, const char* text, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = ::write(file, text, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        text += n;
        bytes -= size_t(n);
    }
    return true;
}

// The path that a link leads to, even if no file is there yet. Links in the folders of the path are not followed.
std::string followed(std::string path)
{
    char target[PATH_MAX];
    for (ssize_t n; (n = readlink(path.c_str(), target, sizeof target)) > 0;) {
        const std::string next(target, size_t(n));
        path = next.front() == '/' ? next : path.substr(0, path.rfind('/') + 1) + next;
    }
    return path;
}

}  // namespace

WholeFile::WholeFile(const char* option, const std::string& path) : option_(option), path_(path)
{
    struct stat existing;
    const bool exists = stat(path.c_str(), &existing) == 0;
    if (!exists && errno != ENOENT) fail(errno);
    if (exists && S_ISDIR(existing.st_mode)) fail(EISDIR);
    if (exists && !S_ISREG(existing.st_mode)) {
        file_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);  // a pipe or a device is written, not replaced
        if (file_ < 0) fail(errno);
        return;
    }
    if (exists && access(path.c_str(), W_OK)) fail(errno);
    const mode_t mask = umask(0);
    umask(mask);
    mode_ = S_IFREG | (exists ? existing.st_mode & 0777 : 0666 & ~mask);
    path_ = followed(path);  // a link stays a link
    if (path_.back() == '/') fail(EISDIR);
    open_new();
    if (error_) fail(error_);
    discard();  // until there is something to write
}

WholeFile::~WholeFile() { discard(); }

void WholeFile::discard()
{
    if (file_ >= 0) close(file_);
    file_ = -1;
    if (!name_.empty()) unlink(name_.c_str());
    name_.clear();
}

std::string WholeFile::folder() const
{
    const size_t slash = path_.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path_.substr(0, slash);
}

// A name in its folder that no other file has.
std::string WholeFile::free_name() const
{
    static unsigned count = 0;
    return folder() + format("/.new-%x-%x-%x", unsigned(getpid()), unsigned(std::time(nullptr)), count++);
}

void WholeFile::open_new()
{
    file_ = open(folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    // Network file systems, and systems of before 2013, have no files without a name.
    if (file_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        name_ = free_name();
        file_ = open(name_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    }
    if (file_ < 0) error_ = errno;
    else fchmod(file_, mode_ & 0777);
}

void WholeFile::fail(int error) const
{
    throw Error{status_bad_input, option_ + " " + path_ + ": cannot be written: " + std::strerror(error)};
}

void WholeFile::append(std::string_view text)
{
    if (error_) return;
    if (buffer_.empty()) buffer_.reserve(buffer_bytes + text.size());
    buffer_ += text;
    if (buffer_.size() >= buffer_bytes) flush();
}

void WholeFile::flush()
{
    if (file_ < 0 && !error_) open_new();
    if (!error_ && !write_all(file_, buffer_.data(), buffer_.size())) error_ = errno;
    buffer_.clear();
}

void WholeFile::check()
{
    flush();
    if (error_) fail(error_);
}

void WholeFile::commit()
{
    check();
    if (mode_ && !take_place()) fail(errno);
    const int closed = close(file_);
    file_ = -1;
    if (closed) fail(errno);
}

// Replaces what has the name of `path_`, at once. False: errno says why.
bool WholeFile::take_place()
{
    if (name_.empty()) {
        const std::string name = free_name();
        if (linkat(AT_FDCWD, format("/proc/self/fd/%d", file_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW))
            return false;
        name_ = name;
    }
    if (std::rename(name_.c_str(), path_.c_str())) return false;
    name_.clear();
    return true;
}

bool WholeFile::same_place(const WholeFile& other) const
{
    if (!mode_ || !other.mode_) return false;
    struct stat own, others;
    const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
    return name(path_) == name(other.path_) && stat(folder().c_str(), &own) == 0 &&
           stat(other.folder().c_str(), &others) == 0 && own.st_dev == others.st_dev && own.st_ino == others.st_ino;
}

unsigned long long WholeFile::room() const
{
    struct statvfs disk;
    return mode_ && statvfs(folder().c_str(), &disk) == 0 ? (unsigned long long)disk.f_bavail * disk.f_frsize
                                                          : ULLONG_MAX;
}

std::string read_file(const std::string& named, const std::string& path)
{
    const auto refuse = [&] { throw Error{status_bad_input, named + ": " + std::strerror(errno)}; };
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
    if (!file) refuse();
    std::string text;
    char part[4096];
    while (const size_t bytes = std::fread(part, 1, sizeof part, file.get())) text.append(part, bytes);
    if (std::ferror(file.get())) refuse();  // a folder, for example
    return text;
}

void refuse_one_place(const WholeFile* first, const WholeFile* second)
{
    if (first && second && first->same_place(*second))
        throw Error{status_bad_input, first->option() + " and " + second->option() + " name the same file, " +
                                          second->path() + ": give each a name of its own"};
}

void keep_standard_files()
{
    for (int file = 0; file <= 2; ++file) {
        if (fcntl(file, F_GETFD) != -1) continue;
        // The lowest free number is the one that is closed.
        const int opened = open("/dev/null", file == STDOUT_FILENO ? O_RDONLY : O_RDWR);
        if (opened < 0) (void)!open("/", O_RDONLY);
    }
}

}  // namespace harness
