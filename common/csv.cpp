#include "csv.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "error.h"

namespace harness {

std::string csv_cell(const std::string& text)
{
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string out = "\"";
    for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::string csv_line(const std::vector<std::string>& cells)
{
    std::string line;
    for (const std::string& cell : cells) line += csv_cell(cell) + ",";
    line.back() = '\n';
    return line;
}

std::string csv_offsets(const std::vector<int64_t>& offsets)
{
    const int64_t step = offsets.size() > 1 ? offsets[1] - offsets[0] : 0;
    bool even = true;
    for (size_t i = 1; i < offsets.size(); ++i) even = even && offsets[i] - offsets[i - 1] == step;
    std::string text = std::to_string(offsets[0]);
    if (even) return text + ":" + std::to_string(step);
    for (size_t i = 1; i < offsets.size(); ++i) text += " " + std::to_string(offsets[i]);
    return text;
}

std::string utc_now()
{
    const time_t now = time(nullptr);
    char text[32];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    return text;
}

CsvFile::CsvFile(const char* option, const std::string& path) : option_(option), path_(path)
{
    struct stat existing;
    const bool exists = stat(path.c_str(), &existing) == 0;
    if (exists && S_ISDIR(existing.st_mode)) {
        errno = EISDIR;
        fail();
    }
    if (exists && !S_ISREG(existing.st_mode)) {
        file_ = open(path.c_str(), O_WRONLY);  // it has no place to take
        if (file_ < 0) fail();
        return;
    }
    if (exists && access(path.c_str(), W_OK)) fail();
    const mode_t mask = umask(0);
    umask(mask);
    mode_ = S_IFREG | (exists ? existing.st_mode & 0777 : 0666 & ~mask);
    char resolved[PATH_MAX];
    if (exists && realpath(path.c_str(), resolved)) path_ = resolved;  // keep a link a link
    open_temporary();
    close(file_);
    file_ = -1;
    unlink(temporary_.c_str());
}

CsvFile::~CsvFile()
{
    if (file_ >= 0) close(file_);
}

void CsvFile::open_temporary()
{
    temporary_ = path_ + ".XXXXXX";
    file_ = mkstemp(&temporary_[0]);
    if (file_ < 0) fail();
    fchmod(file_, mode_ & 0777);
}

void CsvFile::fail() const { throw Error{status_bad_input, option_ + " " + path_ + ": cannot be written: " + std::strerror(errno)}; }

void CsvFile::write(const std::string& text)
{
    if (mode_) open_temporary();
    bool good = true;
    for (size_t done = 0; good && done < text.size();) {
        const ssize_t n = ::write(file_, text.data() + done, text.size() - done);
        good = n >= 0;
        done += good ? n : 0;
    }
    good = close(file_) == 0 && good;
    file_ = -1;
    if (good && mode_) good = std::rename(temporary_.c_str(), path_.c_str()) == 0;
    if (good) return;
    const int error = errno;
    if (mode_) unlink(temporary_.c_str());
    errno = error;
    fail();
}

}  // namespace harness
