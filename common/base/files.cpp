#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>

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

// While a file has a name that is not its own, signals that end the program wait, whichever of its threads gets them.
class SignalsWait {
public:
    SignalsWait()
    {
        came_ = 0;
        struct sigaction waits{};
        waits.sa_handler = [](int number) { came_ = number; };
        waits.sa_flags = SA_RESTART;
        for (size_t i = 0; i < std::size(numbers); ++i) sigaction(numbers[i], &waits, &before_[i]);
    }
    ~SignalsWait()
    {
        const int error = errno;
        for (size_t i = 0; i < std::size(numbers); ++i) sigaction(numbers[i], &before_[i], nullptr);
        if (came_) raise(came_);
        errno = error;
    }
    SignalsWait(const SignalsWait&) = delete;

private:
    static constexpr int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    static volatile std::sig_atomic_t came_;
    struct sigaction before_[std::size(numbers)];
};
volatile std::sig_atomic_t SignalsWait::came_;

// Calls make(name) with names of a folder until one is free. False: errno says why.
template <typename Make>
bool with_free_name(const std::string& folder, std::string& name, Make make)
{
    static unsigned count = 0;
    for (int attempt = 0; attempt < 100; ++attempt) {
        timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        name = folder + format("/.new-%x-%lx-%x", unsigned(getpid()), now.tv_nsec, count++);
        if (make(name.c_str())) return true;
        if (errno != EEXIST) return false;
    }
    return false;
}

// Where a link leads, though nothing may be there yet. Not where a link on the way to it leads: the folder is that.
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
        file_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);  // it has no place to take
        if (file_ < 0) fail(errno);
        return;
    }
    if (exists && access(path.c_str(), W_OK)) fail(errno);
    const mode_t mask = umask(0);
    umask(mask);
    mode_ = S_IFREG | (exists ? existing.st_mode & 0777 : 0666 & ~mask);
    path_ = followed(path);  // a link stays a link
    if (path_.back() == '/') fail(EISDIR);
    open_unnamed();
    if (error_) fail(error_);
    close(file_);  // until there is something to write
    file_ = -1;
}

WholeFile::~WholeFile()
{
    if (file_ >= 0) close(file_);
}

std::string WholeFile::folder() const
{
    const size_t slash = path_.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path_.substr(0, slash);
}

void WholeFile::open_unnamed()
{
    file_ = open(folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    // EISDIR: the system is older than such files.
    if (file_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        const SignalsWait wait;
        std::string name;
        with_free_name(folder(), name, [&](const char* free) {
            return (file_ = open(free, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600)) >= 0;
        });
        if (file_ >= 0) unlink(name.c_str());
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
    if (file_ < 0 && !error_) open_unnamed();
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

// The file without a name gets that of `path_`. False: errno says why.
bool WholeFile::take_place()
{
    const std::string open_file = format("/proc/self/fd/%d", file_);
    const auto link_to = [&](const char* name) {
        return linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    };
    if (link_to(path_.c_str())) return true;
    // A link replaces nothing; a name does. For a moment, the file has one of its own.
    const SignalsWait wait;
    std::string name;
    bool named = with_free_name(folder(), name, link_to);
    if (!named) {
        int copy = -1;
        if (!with_free_name(folder(), name, [&](const char* free) {
                return (copy = open(free, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)) >= 0;
            }))
            return false;
        fchmod(copy, mode_ & 0777);
        buffer_.resize(buffer_bytes);
        ssize_t n = 0;
        for (off_t at = 0;
             (n = pread(file_, buffer_.data(), buffer_.size(), at)) > 0 && write_all(copy, buffer_.data(), size_t(n));
             at += n) {}
        const int error = n == 0 ? 0 : errno;
        named = close(copy) == 0 && !error;
        if (error) errno = error;
    }
    if (named && std::rename(name.c_str(), path_.c_str()) == 0) return true;
    const int error = errno;
    unlink(name.c_str());
    errno = error;
    return false;
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
