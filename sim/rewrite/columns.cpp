// The preprocessor moves the tokens of a line, and so does the rewriter. The compiler numbers the columns of the text
// that comes out. Here each token's column is found again in the file itself.
//
// In: the preprocessed text as tokens, and the pieces of it that are in the new text. A line of the text and the line
// of the file have the same tokens, except where a macro stands. Equal tokens at the beginning and at the end of a line
// belong together. Tokens in between belong to the first token in the file that differs, which is the macro. Code that
// the rewriter puts in has the column of the token behind it.
//
// Out: in the order of the text, the path of each file, and then for each line whose columns have changed its number
// and points. "8=5" says that column 8 was column 5, and that the columns after it follow one by one. "8!5" says that
// they are all column 5. 0 is unknown. The cost is linear in the text.

#include "columns.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

namespace rewrite {
namespace {

// Where each line of a text begins.
std::vector<size_t> begins_of_lines(const std::string& text)
{
    std::vector<size_t> begins{0};
    for (size_t i = 0; (i = text.find('\n', i)) != std::string::npos;) begins.push_back(++i);
    return begins;
}

size_t line_at(const std::vector<size_t>& begins, size_t offset)
{
    return size_t(std::upper_bound(begins.begin(), begins.end(), offset) - begins.begin()) - 1;
}

// A file of the program.
struct File {
    std::string text;
    std::unique_ptr<Source> source;
    std::vector<size_t> begins;
    std::vector<int> first;  // token of each line, and one more

    // The column of a token in characters, from 1.
    int column(int token) const
    {
        const size_t at = source->begin_of(token);
        return 1 + int(std::count_if(text.begin() + long(begins[line_at(begins, at)]), text.begin() + long(at),
                                     [](char c) { return (c & 0xc0) != 0x80; }));
    }
};

// Null if the file cannot be read as tokens.
std::unique_ptr<File> read_file(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    auto file = std::make_unique<File>();
    file->text.assign(std::istreambuf_iterator<char>(in), {});
    if (!in) return nullptr;
    try {
        file->source = std::make_unique<Source>(file->text);
    } catch (const Refusal&) {
        return nullptr;
    }
    file->begins = begins_of_lines(file->text);
    int token = 1;
    for (const size_t begin : file->begins) {
        while (token <= file->source->count() && file->source->begin_of(token) < begin) ++token;
        file->first.push_back(token);
    }
    file->first.push_back(file->source->count() + 1);
    return file;
}

struct Column {
    const std::string* path = nullptr;  // null: unknown
    int line = 0, column = 0;
    bool exact = false;  // false: all of the token has this column
};

class Columns {
public:
    explicit Columns(const Source& source) : source_(source), of_tokens_(size_t(source.count()) + 2) {}

    void find()
    {
        const std::vector<Marker> markers = markers_in(source_.text());
        const std::vector<size_t> begins = begins_of_lines(source_.text());
        int token = 1;
        for (size_t m = 0; m < markers.size(); ++m) {
            const size_t after = line_at(begins, markers[m].offset) + 1;
            const size_t end = m + 1 < markers.size() ? markers[m + 1].offset : source_.text().size();
            while (token <= source_.count() && source_.begin_of(token) < end) {
                const size_t line = line_at(begins, source_.begin_of(token));
                const size_t next = line + 1 < begins.size() ? begins[line + 1] : source_.text().size() + 1;
                const int first = token;
                while (token <= source_.count() && source_.begin_of(token) < next) ++token;
                if (!markers[m].system && line >= after)
                    find_line(first, token, markers[m].file, markers[m].line + int(line - after));
            }
        }
    }

    const Column& of(int token) const { return of_tokens_[size_t(token)]; }

private:
    // Tokens [first, last) of the text are on a line of the file.
    void find_line(int first, int last, const std::string& name, int line)
    {
        const std::string path = std::filesystem::absolute(name).lexically_normal().string();
        auto known = files_.find(path);
        if (known == files_.end()) known = files_.emplace(path, read_file(path)).first;
        const File* file = known->second.get();
        if (!file || line < 1 || size_t(line) >= file->first.size()) return;
        const int own = file->first[size_t(line) - 1], end = file->first[size_t(line)];
        const auto same = [&](int token, int of_file) {
            return source_.spelling(token) == file->source->spelling(of_file);
        };
        int begin = 0, rest = 0;
        const int most = std::min(last - first, end - own);
        while (begin < most && same(first + begin, own + begin)) ++begin;
        while (rest < most - begin && same(last - 1 - rest, end - 1 - rest)) ++rest;
        const int differs = own + begin < end ? file->column(own + begin) : 0;
        for (int i = first; i < last; ++i) {
            const bool exact = i < first + begin || i >= last - rest;
            of_tokens_[size_t(i)] = {&known->first, line,
                                     !exact              ? differs
                                     : i < first + begin ? file->column(own + i - first)
                                                         : file->column(end - (last - i)),
                                     exact};
        }
    }

    const Source& source_;
    std::vector<Column> of_tokens_;
    std::map<std::string, std::unique_ptr<File>> files_;
};

std::string literal(const std::string& text)
{
    std::string out = "\"";
    for (const char c : text) {
        const unsigned char byte = (unsigned char)c;
        if (std::isalnum(byte) || c == ' ' || c == '/' || c == '.' || c == '=' || c == '!') {
            out += c;
            continue;
        }
        out += '\\';
        for (const int shift : {6, 3, 0}) out += char('0' + (byte >> shift & 7));
    }
    return out + "\"";
}

}  // namespace

std::string column_table(const Source& source, const std::string& out, const std::vector<TextPiece>& pieces)
{
    Columns columns(source);
    columns.find();
    const std::vector<size_t> lines = begins_of_lines(source.text()), out_lines = begins_of_lines(out);
    std::string text;
    const std::string* path = nullptr;
    int number = 0, shift = 0;  // of the line, and of the columns behind the last point
    bool follows = true, is_written = false;
    const auto add = [&](size_t at, int token, bool exact) {
        const Column& column = columns.of(token);
        const size_t line = line_at(out_lines, at);
        if (!column.path || line != line_at(lines, source.begin_of(token))) return;
        if (column.path != path) text += *column.path + "\n";
        if (column.path != path || column.line != number) is_written = false, shift = 0, follows = true;
        path = column.path;
        number = column.line;
        exact = exact && column.exact;
        const int from = int(at - out_lines[line]) + 1;
        if (exact && follows && column.column - from == shift) return;
        if (is_written) text.pop_back();
        else text += std::to_string(number);
        text += " " + std::to_string(from) + (exact ? "=" : "!") + std::to_string(column.column) + "\n";
        is_written = true;
        shift = column.column - from;
        follows = exact;
    };
    int token = 1;
    for (const TextPiece& piece : pieces) {
        while (token <= source.count() && source.begin_of(token) < piece.begin) ++token;
        if (piece.is_new && token <= source.count()) add(piece.out, token, false);
        for (; !piece.is_new && token <= source.count() && source.begin_of(token) < piece.end; ++token)
            add(piece.out + source.begin_of(token) - piece.begin, token, true);
    }
    return "\nstatic const char sim_column_table[] __attribute__((used, section(\"sim_columns\"))) = " + literal(text) +
           ";\n";
}

}  // namespace rewrite
