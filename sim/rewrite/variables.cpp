// Variables of the device, the gap behind each array, and the record by which each variable registers itself.
//
// Variables go into sections of the program by kind, whose pages the simulator protects: sim_device, sim_constant,
// sim_managed. Constant ones have sections of their own, because a section holds either constants or variables.
//
// A record (core/memory/declared.h) has the variable's name, its type and a function that returns its address. At
// namespace scope it is a static object. In a function it is one that a local class makes, which exists once for each
// instance of a template. The declaration of a template's variable names a class of the same parameters in the
// attribute of its alignment, so that each instance of the variable makes one of the class.

#include "variables.h"

#include "refusals.h"

namespace rewrite {

// The name of each variable of a declaration, and the `,` or `;` behind it.
//
// declaration = specifiers declarator ("," declarator)* ";"
// declarator  = ("*" | "const" | "(")* name (parens | brackets | braces | token)*
std::vector<std::pair<int, int>> Variables::declarators(const Declaration& d) const
{
    std::vector<std::pair<int, int>> all;
    int name = source_.is(d.stop, "(") ? d.stop : d.name;  // of a pointer to a function: in parentheses
    for (int i = d.stop; i <= source_.count(); i = past(source_, i)) {
        if (!source_.is_any(i, {",", ";"})) continue;
        while (source_.is_any(name, {"*", "const", "("})) ++name;
        if (source_.is_word(name)) all.push_back({name, i});
        if (source_.is(i, ";")) break;
        name = i + 1;
    }
    return all;
}

// A gap behind each array, as one more variable of the same declaration, because only these lie next to each other for
// certain.
void Variables::gaps(const Declaration& d)
{
    if (d.has("extern") || d.has("auto") || source_.is(d.name - 1, "::")) return;
    for (const auto& [name, end] : declarators(d)) {
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
//
// store = constant brackets* ("." member)? change | ("++" | "--") constant brackets*
void Variables::check_constants() const
{
    std::set<std::string_view> hidden;
    std::vector<int> stores;
    for (int i = 1; i <= source_.count() && !constants_.empty(); ++i) {
        if (source_[i].system || !source_.is_word(i) || source_.is_any(i - 1, {".", "->"})) continue;
        const auto known = constants_.find(source_.spelling(i));
        if (known == constants_.end() || at_namespace_scope(source_, i)) continue;

        const int before = i - 1;
        const bool of_type = source_.is_any(before, {"*", "&", ">"}) && source_.is_word(before - 1);
        if (of_type || is_operand(source_, before)) hidden.insert(known->first);

        int end = i + 1, indices = 0;
        for (; source_.is(end, "[") && indices < known->second; ++indices) end = source_[end].partner + 1;
        if (source_.is(end, ".") && source_.is_word(end + 1)) end += 2;
        const bool counted = source_.is_any(before, {"++", "--"}) && !source_.is_any(end, {"[", "->"});
        const bool changed = source_.is_any(end, {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--"});
        if (counted || changed) stores.push_back(i);
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

// A record as a static object, or as a class that something else lists.
std::string Variables::record(bool object, const std::string& kind, const std::string& name,
                              const std::string& variable, const std::string& told)
{
    const std::string type = (variable == "sim_table_" + name ? "const decltype(" : "decltype(") + variable + ")";
    return filled(
        std::string(object ? " static ::sim::Listed sim_record_$number __attribute__((used, init_priority(101)))("
                           : " struct sim_record_$number { static ::sim::Declared record() { return ") +
            "::sim::record_of<::sim::Declared::$kind, $type>(\"$name\", [] { return ::sim::address_of($variable); }, "
            "$number, $told)" + (object ? ");" : "; } };"),
        {{"number", std::to_string(++records_)},
         {"kind", kind},
         {"type", type},
         {"name", name},
         {"variable", variable},
         {"told", told}});
}

// The name with the scope that stands in front of it, and with its template arguments: n::x<int>. Read backwards.
//
// variable = "::"? (word "::")* name angles?
std::string Variables::variable_at(int name) const
{
    const int end = source_.is(name + 1, "<") ? angles_end(source_, name + 1) : name + 1;
    while (source_.is(name - 1, "::")) name -= source_.is_word(name - 2) ? 2 : 1;
    return source_.join(name, end);
}

// `aligned`: words that align the variable.
void Variables::list(const Declaration& d, const std::string& kind, const std::string& aligned)
{
    const bool object = at_namespace_scope(source_, d.first);
    const std::vector<std::pair<int, int>> all = declarators(d);
    const std::string type = "sim_aligned_" + std::to_string(records_ + 1),
                      told = aligned.empty() ? "1" : "alignof(" + type + ")";
    if (!aligned.empty()) edits_.first_after(all.back().second, " struct " + type + " { " + aligned + "char byte; };");
    for (const auto& [name, behind] : all) {
        const std::string variable = variable_at(name);
        std::string text = record(object, kind, std::string(source_.spelling(name)), variable, told);
        if (!object)
            text += filled(d.has("__shared__") ? " ::sim::declares(&reinterpret_cast<const volatile char&>($variable), "
                                                 "::sim::listed<sim_record_$number>);"
                                               : " static_cast<void>(&::sim::listed<sim_record_$number>);",
                           {{"variable", variable}, {"number", std::to_string(records_)}});
        edits_.first_after(all.back().second, text);
    }
}

// A template's variable is listed where it is instantiated. Returns what it is to be aligned to.
//
// template  = "template" "<" parameter ("," parameter)* ">"
// parameter = token* "..."? name ("=" token*)?
std::string Variables::template_record(const Declaration& d, const std::string& kind)
{
    std::string parameters, arguments;  // without defaults
    for (const auto& [first, last] : split(source_, d.header + 1, d.header_end - 1)) {
        const int equals = find_word(source_, first, last, "="), end = equals ? equals : last;
        parameters += (parameters.empty() ? "template <" : ", ") + source_.join(first, end);
        arguments += (arguments.empty() ? "<" : ", ") + std::string(source_.spelling(end - 1));
        if (find_word(source_, first, end, "...")) arguments += "...";
    }
    const std::string name(source_.spelling(d.name));
    const bool member = source_.is(d.name - 1, "::");
    const std::string text = record(false, kind, name, member ? variable_at(d.name) : name + arguments + ">");
    const std::string type = "sim_record_" + std::to_string(records_);
    edits_.before(d.header - 1, parameters + "> struct " + type + "; ");
    edits_.after(declarators(d).back().second, " " + parameters + ">" + text);
    return "::sim::aligned<" + type + arguments + ">>";
}

void Variables::device_variable(const Declaration& d, bool in_function)
{
    const std::vector<std::pair<int, int>> all = declarators(d);
    for (const auto& [name, end] : all) {
        int dimensions = 0;
        for (int i = name + 1; source_.is(i, "["); i = source_[i].partner + 1) ++dimensions;
        if (d.has("__constant__")) constants_[source_.spelling(name)] = dimensions;
    }
    const std::string kind = d.has("__managed__") ? "managed" : d.has("__constant__") ? "constant" : "device";
    const bool outside = at_namespace_scope(source_, d.first);
    const bool of_template = d.header && outside;
    if (!of_template && d.has("__device__") && is_table(d)) return table(d);
    // A section holds either constants or variables, and g++ keeps variables that several files may define apart from
    // others. A specialization of a template's variable is one file's, the others are not. They have no section, which
    // old compilers ignore and newer ones would refuse.
    std::string section = "used, section(\"sim_" + kind;
    if (d.constant() && !d.has("__managed__")) section += "_const";
    if (d.has_inline() && !d.has("static") && !in_unnamed_namespace(source_, d.first)) section += "_inline";

    // Each variable begins at a sector. x86-64 aligns arrays so by itself, other machines do not.
    const bool instances = of_template && !source_.is(d.header + 1, ">");
    const std::string alignment = instances ? template_record(d, kind) : "32";
    qualify(d, std::string(d.has("static") ? "static " : "") + "__attribute__((" +
                   (of_template ? "" : section + "\"), ") + "aligned(" + alignment + "))) ");
    if (!of_template && outside) gaps(d);

    // Only definitions are listed. `extern`, `extern "C"` and members of a class declare what is defined elsewhere.
    const bool defined = !d.has("extern") && source_[d.first - 1].kind != Token::text;
    if (!instances && (outside || in_function) && (defined || find_word(source_, d.stop, all.back().second, "=")))
        list(d, kind);
}

// A static variable of a function of the device. The function may be inline or a template, so the variable has no
// section, as above.
void Variables::local_static(const Declaration& d)
{
    const bool in_for = source_.is(source_[d.first].parent, "(");
    if (d.function || in_for || d.constant() || d.has("__shared__") || d.has("__constant__")) return;
    list(d, "device");
    qualify(d, "static __attribute__((aligned(32))) ");
}

bool Variables::is_table(const Declaration& d) const
{
    if (!d.constant() || d.has("constexpr") || d.has("extern") || d.has_inline()) return false;
    if (!source_.is(d.stop, "[") || source_.is(d.name - 1, "::")) return false;
    return at_namespace_scope(source_, d.first) && declarators(d).size() == 1;
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
    edits_.after(end, " static const decltype(" + array + ")& " + name + " __attribute__((unused)) = " + array + ";" +
                          record(true, "device", name, array));
}

}  // namespace rewrite
