// In: the counts and the findings of a run, and its JSON. Out: a page.
//
// The text of the page is complete without its script: source, costs, findings. The script (page/page.js) reads the
// JSON, and draws the requests of the line that a reader chooses. Everything from outside passes text() or script(), so
// no name and no source line can be markup. The page's policy lets its own script run, and loads nothing.

#include "page.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "error.h"
#include "explain.h"
#include "files.h"
#include "../../build/page_assets.h"

namespace harness {
namespace {

// A text in HTML, and in a quoted attribute.
std::string text(const std::string& plain)
{
    std::string safe;
    for (const char c : printable(plain)) {
        if (c == '&') safe += "&amp;";
        else if (c == '<') safe += "&lt;";
        else if (c == '>') safe += "&gt;";
        else if (c == '"') safe += "&quot;";
        else if (c == '\'') safe += "&#39;";
        else safe += c;
    }
    return safe;
}

// JSON inside a <script>: it has `<` in strings only, where it may be written as a number.
std::string script(const std::string& id, const std::string& json)
{
    std::string safe;
    for (const char c : json) safe += c == '<' ? "\\u003c" : std::string(1, c);
    return "<script type=\"application/json\" id=\"" + id + "\">" + safe + "</script>\n";
}

std::string tag(const char* name, const std::string& of_class, const std::string& inside)
{
    return format("<%s class=\"%s\">", name, of_class.c_str()) + inside + format("</%s>", name);
}

std::string short_number(double n) { return format("%.4g", n); }

double mean_cost(const AccessSite& s) { return double(s.units) / double(s.requests); }
double ideal(const AccessSite& s) { return double(s.ideal) / double(s.requests); }

// The share of a site in the units of its memory.
double share(const AccessSite& s, const LaunchCounts& counts)
{
    uint64_t all = 0;
    for (const AccessSite& other : counts.sites)
        if (other.memory == s.memory) all += other.units;
    return all ? double(s.units) / double(all) : 0;
}

std::string percent_text(double share)
{
    return share > 0 && share < 0.005 ? "< 1 %" : format("%.0f %%", 100 * share);
}

using Lines = std::vector<std::string>;

const Lines& lines_of(const std::string& path)
{
    static std::map<std::string, Lines> known;
    const auto [at, fresh] = known.try_emplace(path);
    if (fresh) {
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            std::string spaced;  // a tab goes to the next multiple of 4
            for (const char c : line)
                if (c == '\t') spaced.append(4 - spaced.size() % 4, ' ');
                else spaced += c;
            if (!spaced.empty() && spaced.back() == '\r') spaced.pop_back();
            at->second.push_back(spaced);
        }
    }
    return at->second;
}

struct LineRange {
    int first, last;  // lines, from 1
};

// The function around a line: from the line in front of which one ends, to the `}` that begins a line.
LineRange function_around(const Lines& lines, int line)
{
    constexpr int most = 120;
    const auto begins = [&](int n, char c) { return !lines[size_t(n - 1)].empty() && lines[size_t(n - 1)][0] == c; };
    const int size = int(lines.size());
    int first = line, last = line;
    while (first > 1 && line - first < most && !begins(first - 1, '}') && !begins(first - 1, '#')) --first;
    for (int n = line; n >= first; --n)  // without what stands in front of a kernel
        if (lines[size_t(n - 1)].find("__global__") != std::string::npos) {
            first = n > first && lines[size_t(n - 2)].find("template") != std::string::npos ? n - 1 : n;
            break;
        }
    while (last < size && last - line < most && !begins(last, '}')) ++last;
    return {first, last};
}

// One kernel's part of the page.
class Section {
public:
    Section(const Page& page, size_t number) : page_(page), number_(number), kernel_(page.kernels[number])
    {
        for (const Finding& f : page.findings)
            if (f.kernel == kernel_.name) findings_.push_back(&f);
        const std::vector<const AccessSite*> costly = costly_sites(*kernel_.counts);
        if (!costly.empty()) worst_ = costly.front();
    }

    std::string html() const
    {
        return format("<section class=\"kernel\" id=\"kernel-%zu\">\n", number_) + "<h2>" + text(kernel_.name) +
               " <small>" + text(kernel_.launch) + "</small></h2>\n" + tag("p", "verdict", verdict()) + "\n" + strip() +
               "<div class=\"work\">" + source() + "</div>\n</section>\n";
    }

private:
    std::string verdict() const
    {
        if (!findings_.empty()) {
            const Finding& f = *findings_.front();
            const std::string many = findings_.size() == 1 ? "1 finding" : format("%zu findings", findings_.size());
            return "<b>" + many + ".</b> " + text(sentence(f.text)) + (worst_ ? "<br>" + costs() : "");
        }
        return worst_ ? costs() : "No line costs more than it must.";
    }

    std::string costs() const
    {
        const std::string why = diagnosis(*worst_);  // behind a colon come numbers
        return format("Line %d, %s: <b>", worst_->line, text(access_text(*worst_)).c_str()) +
               text(units_text(mean_cost(*worst_), *worst_)) + " where " + text(short_number(ideal(*worst_))) +
               " would do</b>. " + text(sentence(why.substr(0, why.find(':'))));
    }

    static std::string sentence(std::string words)
    {
        if (!words.empty()) words[0] = char(std::toupper((unsigned char)words[0]));
        return words + ".";
    }

    std::string strip() const
    {
        const LaunchCounts& c = *kernel_.counts;
        std::string items;
        const auto item = [&](const std::string& what, const std::string& value, const std::string& more) {
            items += "<li>" + text(what) + " <b>" + text(value) + "</b> " + text(more) + "</li>";
        };
        if (c.launched.launches) {
            const Occupancy& o = c.occupancy;
            item("occupancy", format("%.0f %%", o.percent()),
                 format("of an SM's threads, limited by %s (counted, without registers)", o.limit()));
        }
        if (kernel_.model) {
            const Prediction& m = *kernel_.model;
            item("modelled", format("%.4g ms", m.ms),
                 kernel_.model_of + ", limited by " + m.limit + (*m.next ? std::string(", then by ") + m.next : ""));
        }
        item("findings", std::to_string(findings_.size()), "");
        return "<ul class=\"strip\">" + items + "</ul>\n";
    }

    // The lines of all functions that the kernel's accesses and findings are in, by file.
    std::map<std::string, std::vector<LineRange>> ranges() const
    {
        std::map<std::string, std::vector<int>> wanted;
        for (const AccessSite& s : kernel_.counts->sites)
            if (s.line) wanted[s.path].push_back(s.line);
        for (const Finding* f : findings_) {
            if (f->place.line) wanted[f->place.path].push_back(f->place.line);
            for (const FindingPlace& other : f->others)
                if (other.line) wanted[other.path].push_back(other.line);
        }
        std::map<std::string, std::vector<LineRange>> all;
        for (auto& [path, lines] : wanted) {
            const Lines& texts = lines_of(path);
            std::sort(lines.begin(), lines.end());
            for (const int line : lines) {
                std::vector<LineRange>& known = all[path];
                if (line > int(texts.size()) || (!known.empty() && line <= known.back().last)) continue;
                LineRange next = function_around(texts, line);
                if (!known.empty() && next.first <= known.back().last) known.back().last = next.last;
                else known.push_back(next);
            }
        }
        return all;
    }

    std::string source() const
    {
        std::string rows;
        const auto all = ranges();
        for (const auto& [path, list] : all) {
            const Lines& lines = lines_of(path);
            rows += "<tbody><tr class=\"file\"><th colspan=\"3\" scope=\"rowgroup\">" +
                    text(path.substr(path.rfind('/') + 1)) + "</th></tr>\n";
            for (const LineRange& range : list) {
                if (&range != &list.front()) rows += "<tr class=\"gap\"><td></td><td>⋯</td><td></td></tr>\n";
                for (int n = range.first; n <= range.last; ++n) rows += row(path, n, lines[size_t(n - 1)]);
            }
            rows += "</tbody>";
        }
        std::string lost;
        for (const Finding* f : findings_)
            if (!f->place.line) lost += tag("p", "finding", finding(*f));
        return "<div class=\"source\">" +
               tag("p", "key", "At each line: what a request of a warp costs | the least that it could, and the share "
                               "of all that the kernel asks of this memory. Red: a finding.") +
               "<table>" + rows + "</table>" + lost + "</div>";
    }

    std::string row(const std::string& path, int line, const std::string& source) const
    {
        std::string accesses, kind = "quiet", found;
        const std::vector<AccessSite>& sites = kernel_.counts->sites;
        for (size_t i = 0; i < sites.size(); ++i) {
            const AccessSite& s = sites[i];
            if (s.line != line || s.path != path) continue;
            const bool hot = is_costly(s);
            if (hot) kind = "hot";
            else if (kind == "quiet") kind = "fine";
            accesses += format("<button type=\"button\" class=\"access%s\" data-kernel=\"%zu\" "
                               "data-place=\"%zu\"%s>",
                               hot ? " hot" : "", number_, i, &s == worst_ ? " data-worst" : "") +
                        memory_name(s) + " " + access_name(s) + " <b>" + short_number(mean_cost(s)) + " | " +
                        short_number(ideal(s)) + "</b> " + s.unit + ", " + percent_text(share(s, *kernel_.counts)) +
                        "</button>";
        }
        for (const Finding* f : findings_)
            if (f->place.line == line && f->place.path == path)
                found += "<tr class=\"found\"><td></td><td colspan=\"2\">" + tag("p", "finding", finding(*f)) +
                         "</td></tr>\n";
        if (!found.empty()) kind = "wrong";
        return format("<tr class=\"%s\"><td class=\"n\">%d</td><td class=\"code\">", kind.c_str(), line) +
               text(source) + "</td><td class=\"c\">" + accesses + "</td></tr>\n" + found;
    }

    std::string finding(const Finding& f) const
    {
        const size_t number = size_t(&f - page_.findings.data());
        const std::string column = f.place.column ? format(" (column %d)", f.place.column) : "";
        return format("<button type=\"button\" class=\"finding\" data-finding=\"%zu\">%s</button> ", number,
                      name_of(f.kind->level)) +
               text(message_of(f) + column + " [" + f.kind->id + "]");
    }

    const Page& page_;
    size_t number_;
    const PageKernel& kernel_;
    std::vector<const Finding*> findings_;
    const AccessSite* worst_ = nullptr;  // the access that has most to gain; null: none
};

}  // namespace

std::string page_html(const Page& page)
{
    const Machine& machine = *page.machine;
    std::string body;
    for (size_t i = 0; i < page.kernels.size(); ++i) body += Section(page, i).html();
    for (const Finding& f : page.findings) {
        const auto known = [&](const PageKernel& k) { return k.name == f.kernel; };
        if (std::none_of(page.kernels.begin(), page.kernels.end(), known))
            body += tag("p", "finding", text(finding_lines(f)));
    }
    return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
           "script-src 'sha256-" + std::string(page_script_hash) + "'\">\n<title>" + text(page.program) +
           "</title>\n<style>\n" + page_style + "</style>\n</head>\n<body>\n<main data-major=\"" +
           std::to_string(machine.major) + "\" data-minor=\"" + std::to_string(machine.minor) + "\">\n<header><h1>" +
           text(page.program) + "</h1><p>Counted for the " + text(machine.label) +
           ", without a GPU. Costs are counted, times are modelled.</p></header>\n" + body + "</main>\n" +
           script("record", "[" + page.record + "]") + (page.against.empty() ? "" : script("against", page.against)) +
           "<script>" + page_script + "</script>\n</body>\n</html>\n";
}

std::string read_record(const char* option, const std::string& path)
{
    const std::string named = std::string(option) + " " + printable(path), json = read_file(named, path);
    const auto refuse = [&](const std::string& why) {
        throw Error{status_bad_input, named + ": expected the JSON that --json wrote for an earlier run: " + why};
    };
    std::vector<JsonMembers> objects;  // the steps write one for each matrix
    try {
        objects = json_objects(json);
    } catch (const Error& error) {
        refuse(error.message);
    }
    if (objects.empty()) refuse("it is empty");
    JsonValues runs;
    for (const JsonMembers& run : objects) {
        const auto member = [&](const char* name) {
            const auto is = [&](const auto& m) { return m.first == name; };
            const auto found = std::find_if(run.begin(), run.end(), is);
            return found == run.end() ? "" : found->second;
        };
        if (member("kernels").substr(0, 1) != "[") refuse("it has no list of kernels");
        const std::string version = member("version");
        if (version.empty() && member("backend").empty()) refuse("it has no version");
        if (!version.empty() && version != record_version)
            refuse("its version is " + version + ", and this program reads version " + record_version);
        runs.push_back(json_object(run));
    }
    return json_array(runs);
}

}  // namespace harness
