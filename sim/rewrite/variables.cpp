// Variables of the device, and the gap behind each array.
//
// They go into sections of the program by kind, where the simulator finds them: sim_device, sim_constant, sim_managed.
// Constant ones have sections of their own, because a section holds either constants or variables.

#include "variables.h"

#include "refusals.h"

namespace rewrite {

// The name of each variable of a declaration, and the `,` or `;` behind it.
std::vector<std::pair<int, int>> Variables::declarators(const Declaration& d) const
{
    std::vector<std::pair<int, int>> all;
    int name = source_.is(d.stop, "(") ? d.stop : d.name;  // of a pointer to a function: in parentheses
    for (int i = d.stop; i <= source_.count(); i = source_.opens(i) ? source_[i].partner + 1 : i + 1) {
        if (!source_.is(i, ",") && !source_.is(i, ";")) continue;
        all.push_back({name, i});
        if (source_.is(i, ";")) break;
        name = i + 1;
        while (source_.is(name, "*") || source_.is(name, "const")) ++name;
    }
    return all;
}

// A gap behind each array, as one more variable of the same declaration, because only these lie next to each other for
// certain.
void Variables::gaps(const Declaration& d)
{
    if (d.has("extern") || d.has("auto") || source_.is(d.name - 1, "::")) return;
    for (auto [name, end] : declarators(d)) {
        while (source_.is(name, "(") || source_.is(name, "*")) ++name;  // a pointer to a function
        if (!source_.is_word(name)) continue;
        const std::string array(source_.spelling(name));
        // A pointer to something constant is no constant itself.
        const bool pointer = source_.is(name - 1, "*") || (source_.is(name - 1, "const") && d.has("*"));
        // An object of a class with constructors would be made when a thread first comes by, behind a guard that is
        // watched on some machines. With {}, it is zero from the beginning.
        const std::string value = d.has("__shared__") ? "{}" : "";
        edits_.before(end, value + ", " + (pointer ? d.constant() ? "*const " : "*" : "") + "sim_gap_" + array +
                               "[::sim::gap_elements<decltype(" + array + ")>]" + (d.constant() ? " = {}" : value));
    }
}

// nvcc takes a __constant__ variable for constant in all code: `c = `, `c[i] += `, `++c.x`. A name that is declared
// again is let pass, and so is what a pointer leads to.
void Variables::check_constants() const
{
    std::set<std::string_view> hidden;
    std::vector<int> stores;
    for (int i = 1; i <= source_.count() && !constants_.empty(); ++i) {
        if (source_[i].system || !source_.is_word(i) || source_.is(i - 1, ".") || source_.is(i - 1, "->")) continue;
        const auto known = constants_.find(source_.spelling(i));
        if (known == constants_.end() || at_namespace_scope(source_, i)) continue;
        const int before = i - 1;
        if ((source_.is_word(before) && !one_of(source_.spelling(before), {"return", "else", "do", "case"})) ||
            (one_of(source_.spelling(before), {"*", "&", ">"}) && source_.is_word(before - 1)))
            hidden.insert(known->first);
        int end = i + 1, indices = 0;
        for (; source_.is(end, "[") && indices < known->second; ++indices) end = source_[end].partner + 1;
        if (source_.is(end, ".") && source_.is_word(end + 1)) end += 2;
        const bool counted = source_.is(before, "++") || source_.is(before, "--");
        if (one_of(source_.spelling(end), {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--"}) ||
            (counted && !source_.is(end, "[") && !source_.is(end, "->")))
            stores.push_back(i);
    }
    for (int i : stores)
        if (!hidden.count(source_.spelling(i)))
            refuse(source_, i, std::string(source_.spelling(i)) +
                                   " is __constant__, and nvcc refuses to store to it; set it with cudaMemcpyToSymbol");
}

// Puts specifiers, `static` among them, in front: behind alignas, which must come first.
void Variables::qualify(const Declaration& d, const std::string& specifiers)
{
    for (int w : d.words)
        if (source_.is(w, "static")) edits_.remove(w);
    edits_.before(d.specifiers(), specifiers);
}

void Variables::device_variable(const Declaration& d)
{
    for (const auto& [name, end] : declarators(d)) {
        int dimensions = 0;
        for (int i = name + 1; source_.is(i, "["); i = source_[i].partner + 1) ++dimensions;
        if (d.has("__constant__") && source_.is_word(name)) constants_[source_.spelling(name)] = dimensions;
    }
    std::string section = d.has("__managed__") ? "sim_managed" : d.has("__constant__") ? "sim_constant" : "sim_device";
    // A specialization of a template's variable is one file's, the others are not. They have no section, which old
    // compilers ignore and newer ones would refuse. The simulator finds them by the name that is put beside the
    // template.
    const bool of_template = d.header && at_namespace_scope(source_, d.first);
    if (!of_template && d.has("__device__") && is_table(d)) return table(d);
    // A section holds either constants or variables, and g++ keeps variables that several files may define apart from
    // others.
    if (d.constant() && !d.has("__managed__")) section += "_const";
    if (d.has_inline() && !of_template && !d.has("static") && !in_unnamed_namespace(source_, d.first))
        section += "_inline";
    // From the beginning of a sector on, whichever machine this is: x86-64 aligns arrays so, others do not.
    qualify(d, std::string(d.has("static") ? "static " : "") + "__attribute__((" +
                   (of_template ? "" : "used, section(\"" + section + "\"), ") + "aligned(32))) ");
    if (!of_template && at_namespace_scope(source_, d.first)) gaps(d);
    const std::string name(source_.spelling(d.name));
    const bool specialization = of_template && source_.is(d.header + 1, ">");
    if (!of_template || specialization || !templates_.insert(scope_of(source_, d.first) + "::" + name).second) return;
    int end = d.stop;
    while (end <= source_.count() && !source_.is(end, ";"))
        end = source_.opens(end) ? source_[end].partner + 1 : end + 1;
    edits_.after(end, template_note(section, d.name));
}

std::string Variables::template_note(const std::string& section, int name) const
{
    return " static const char sim_template_" + section + "_" + std::string(source_.spelling(name)) +
           "[] __attribute__((used)) = \"\";";
}

// A static variable of a function of the device. The function may be inline or a template, so the variable has no
// section, as above.
void Variables::local_static(const Declaration& d)
{
    const bool in_for = source_.is(source_[d.first].parent, "(");
    if (d.function || in_for || d.constant() || d.has("__shared__") || d.has("__constant__")) return;
    const std::vector<std::pair<int, int>> all = declarators(d);
    for (auto [name, end] : all) {
        while (source_.is(name, "(") || source_.is(name, "*")) ++name;  // a pointer to a function
        edits_.after(all.back().second, template_note("sim_device", name));
    }
    qualify(d, "static __attribute__((aligned(32))) ");
}

bool Variables::is_table(const Declaration& d) const
{
    return d.constant() && !d.has("constexpr") && !d.has("extern") && !d.has_inline() && source_.is(d.stop, "[") &&
           at_namespace_scope(source_, d.first) && !source_.is(d.name - 1, "::") && declarators(d).size() == 1;
}

// const TYPE name[]...: g++ does not watch an object that is constant. So the array is a variable, and its name is that
// of a reference to something constant.
void Variables::table(const Declaration& d)
{
    const std::string name(source_.spelling(d.name)), array = "sim_table_" + name;
    for (auto w = d.words.rbegin(); w != d.words.rend() && !source_.is(*w, "*"); ++w)
        if (source_.is(*w, "const")) edits_.remove(*w);
    qualify(d, "static __attribute__((used, section(\"sim_device_table\"), aligned(32))) ");
    edits_.replace(d.name, d.name + 1, array);
    const int end = declarators(d).front().second;
    edits_.before(end, std::string(", ") + (d.has("*") ? "*" : "") + "sim_gap_" + name +
                           "[::sim::gap_elements<decltype(" + array + ")>]");
    edits_.after(end, " static const decltype(" + array + ")& " + name + " __attribute__((unused)) = " + array + ";");
}

}  // namespace rewrite
