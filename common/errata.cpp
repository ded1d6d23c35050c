#include "errata.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/csv.h"
#include "base/error.h"
#include "base/files.h"
#include "base/finding_kinds.h"
#include "base/suggest.h"
#include "bench.h"
#include "option_values.h"

namespace harness {
namespace {

using Findings = std::vector<Finding>;

const Kernel& kernel_named(const std::string& name)
{
    for (const Kernel& k : kernels())
        if (k.name == name && k.backend != "cuda") return k;
    throw Error{status_bad_input, "the gallery has no kernel " + name};
}

// The findings of all checks of a kernel, on a matrix of this shape.
Findings reports_on_kernel(const Kernel& kernel, Shape shape, const Machine& machine, Progress& progress)
{
    Findings reports;
    const Complain note = [&](const std::string&, const Finding& what) { reports.push_back(what); };
    std::string remark;
    const std::unique_ptr<Device> device = open_device(kernel.backend, machine, remark);
    Bench bench(*device, Type::f32, shape, kernel.expected, false, progress);
    Contender c = contender(kernel, kernel.block);
    bench.verify(c, 1, true, note);
    if (!c.result.refused.empty()) return {{kinds::refused_launch, c.result.refused}};
    if (c.result.counts)
        for (const AccessSite& s : c.result.counts->sites)
            if (s.memory == shared && s.units > s.ideal)
                reports.push_back(
                    {kinds::bank_conflicts,
                     format("bank conflicts: %s of shared memory at %s:%d: %.4g wavefronts per request where %.4g "
                            "would do", s.store ? "store" : "load", s.file.c_str(), s.line,
                            double(s.units) / s.requests, double(s.ideal) / s.requests)});
    // Is it one of the program's other kernels under a name of its own?
    for (const Kernel& k : kernels()) {
        if (k.backend != "sim" || kernel.backend != "sim" || k.name == kernel.name) continue;
        if (!Bench::same_layout(k.expected, kernel.expected)) continue;
        Contender other = contender(k, k.block);
        bench.verify(other, 1, false, [](const std::string&, const Finding&) {});
        if (const auto same = same_launch(c, other)) reports.push_back(*same);
    }
    return reports;
}

// The findings about a check of results: it must accept right results and refuse wrong ones.
Findings reports_on_check(Erratum::Check check, const Erratum& e)
{
    Contents contents{Type::f32, copies, uint64_t(e.width), uint64_t(e.height), 0, Holds::input};
    const auto matrix = [&] {
        std::vector<float> values(contents.elements());
        for (uint64_t i = 0; i < values.size(); ++i) {
            const uint32_t bits = contents.at<uint32_t>(i);
            std::memcpy(&values[i], &bits, sizeof bits);
        }
        return values;
    };
    const std::vector<float> idata = matrix();
    contents.expected = e.expected;
    contents.holds = Holds::result;
    const std::vector<float> right = matrix();
    contents.holds = Holds::poison;
    const std::vector<float> unwritten = matrix();
    Findings reports;
    if (check(unwritten.data(), idata.data(), e.width, e.height))
        reports.push_back(
            {kinds::check_cannot_fail, "a check that cannot fail: it accepts an output that was never written"});
    if (!check(right.data(), idata.data(), e.width, e.height))
        reports.push_back({kinds::check_refuses, "refuses a right result"});
    return reports;
}

Findings reports_on_method(Erratum::Method method)
{
    const std::string what = method();
    return what.empty() ? Findings() : Findings{{kinds::bad_method, what}};
}

// A paragraph in lines of a hundred characters, as the terminal of a lecture hall has.
std::string paragraph(const std::string& text)
{
    constexpr size_t most = 100;
    const std::string indent(3, ' ');
    std::string out, line = indent;
    std::istringstream words(text);
    for (std::string word; words >> word; line += " " + word)
        if (line.size() + 1 + word.size() > most && line != indent) {
            out += line + "\n";
            line = indent;
        }
    return out + line + "\n";
}

// The faults with one of these names; all faults without names. Throws status_bad_input for a name that no fault has.
std::vector<Erratum> chosen_errata(const std::vector<std::string>& names)
{
    const auto goes_by_name = [](const Erratum& e, const std::string& name) {
        return name == e.kernel || name == e.id;
    };
    std::vector<Erratum> chosen;
    std::vector<std::string> known;
    for (const Erratum& e : errata()) {
        known.push_back(e.kernel);
        const auto names_it = [&](const std::string& name) { return goes_by_name(e, name); };
        if (names.empty() || std::any_of(names.begin(), names.end(), names_it)) chosen.push_back(e);
    }
    for (const std::string& name : names)
        if (std::none_of(chosen.begin(), chosen.end(), [&](const Erratum& e) { return goes_by_name(e, name); }))
            refuse("--kernel " + name + ": " + expected_one_of(name, known));
    std::stable_sort(chosen.begin(), chosen.end(), [](const Erratum& a, const Erratum& b) {
        return std::make_pair(a.id.size(), a.id) < std::make_pair(b.id.size(), b.id);
    });
    return chosen;
}

// The reports of the checks on one fault and on its corrected twin.
struct Shown {
    const Erratum& erratum;
    std::string finding;          // of the check that should find the fault; empty: it did not
    std::string twin;             // what is wrong with the corrected one; empty: nothing
    bool caught() const { return !finding.empty(); }
    bool clean() const { return twin.empty(); }
};

Shown show(const Erratum& e, const Machine& machine, Progress& progress)
{
    const auto reports_on = [&](const std::string& kernel, Erratum::Check check, Erratum::Method method) {
        return check ? reports_on_check(check, e) : method ? reports_on_method(method)
                     : reports_on_kernel(kernel_named(kernel), {e.width, e.height}, machine, progress);
    };
    const Findings faulty = reports_on(e.kernel, e.faulty_check, e.faulty_method);
    const Findings corrected = reports_on(e.corrected, e.sound_check, e.sound_method);
    const auto caught =
        std::find_if(faulty.begin(), faulty.end(), [&](const Finding& r) { return e.caught_by == r.kind->id; });
    // A twin may be slow for reasons of its own. Bank conflicts are a fault only where they were denied.
    const auto clean = std::all_of(corrected.begin(), corrected.end(), [&](const Finding& r) {
        return e.caught_by != kinds::bank_conflicts.id && r.kind == &kinds::bank_conflicts;
    });
    return {e, caught == faulty.end() ? "" : message_of(*caught), clean ? "" : message_of(corrected.front())};
}

std::string verdict_on_twin(const Shown& s) { return s.clean() ? "nothing to report" : "NOT CLEAN: " + s.twin; }

std::string erratum_text(const Shown& s)
{
    const Erratum& e = s.erratum;
    const std::string label =
        e.faulty_method ? "caught:" : format("caught on %d rows x %d columns:", e.height, e.width);
    return format("%s  %s, %s\n", e.id.c_str(), e.kernel.c_str(), e.source.c_str()) + paragraph(e.story) +
           (s.caught() ? paragraph(label + " " + s.finding)
                       : paragraph("NOT CAUGHT by the check that should: " + e.caught_by)) +
           paragraph("corrected: " + e.corrected + ": " + verdict_on_twin(s)) + "\n";
}

const char* const errata_heading =
    "id,kernel,source,story,width,height,finding,corrected,verdict_on_corrected\n";

// A method has no matrix: its width and height are blank.
std::string erratum_line(const Shown& s)
{
    const Erratum& e = s.erratum;
    const auto side = [&](int n) { return e.faulty_method ? "" : std::to_string(n); };
    return csv_line({e.id, e.kernel, e.source, e.story, side(e.width), side(e.height), s.finding, e.corrected,
                     verdict_on_twin(s)});
}

}  // namespace

int run_errata(const std::vector<std::string>& names, const Machine& machine, const std::string& csv,
               const std::string& program)
{
    std::optional<WholeFile> file;
    if (!csv.empty()) file.emplace("--csv", csv);
    if (file) file->append(errata_heading);
    if (errata().empty()) printf("No fault was published at this stage. `make list` names the steps that have one.\n");
    Progress progress(program);
    bool as_expected = true;
    const std::vector<Erratum> chosen = errata().empty() ? errata() : chosen_errata(names);
    for (const Erratum& e : chosen) {
        const Shown shown = show(e, machine, progress);
        progress.clear();
        printf("%s", erratum_text(shown).c_str());
        if (file) file->append(erratum_line(shown));
        as_expected = as_expected && shown.caught() && shown.clean();
    }
    if (file && as_expected) file->commit();
    else if (file)
        fprintf(stderr, "%s: --csv %s: not written, because of the errors above\n", program.c_str(),
                printable(csv).c_str());
    return as_expected ? status_ok : status_wrong_result;
}

}  // namespace harness
