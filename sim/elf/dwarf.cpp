// A value of debug information is written in one of 44 forms. A table has how many bytes each form takes. A form that
// is not in it makes the rest unreadable, since its length is unknown. Places are then unknown, but never wrong. The
// file is read where it is mapped, and nothing of it is copied.

#include "dwarf.h"

#include "symbols.h"

namespace sim {
namespace {

// How values are written, by the number of their form:
//   0 1 2 3 4 8  a number of so many bytes      u s      a number of LEB128, without and with a sign
//   A B D        a number of 1, 2 or 4 bytes, and so many bytes behind it; U: of LEB128; x: 16 bytes
//   z            a text                         i l      the offset of a text in .debug_str, .debug_line_str
constexpr char forms[] = "?8?BD248zUA11siu"
                         "41248u?4U0uu??xl"
                         "80uu?12341234";

// The text at an offset. Empty if the section does not end with a 0, because then it is no section of texts.
const char* text_at(std::string_view section, uint64_t offset)
{
    return offset < section.size() && !section.back() ? section.data() + offset : "";
}

}  // namespace

Value value_of(Reader& r, uint64_t form)
{
    static const std::string_view strings = section_contents(".debug_str"),
                                  line_strings = section_contents(".debug_line_str");
    Value v;
    switch (const char kind = form < sizeof forms - 1 ? forms[form] : '?') {
        case 'u': v.number = r.leb128(); break;
        case 's': v.number = r.leb128(true); break;
    case 'A': case 'B': case 'D': r.skip(r.number(kind - '@')); break;
        case 'U': r.skip(r.leb128()); break;
        case 'x': r.skip(16); break;
        case 'z':
            if (r.rest.find('\0') != r.rest.npos) v.text = r.rest.data();
            r.skip(std::strlen(v.text) + 1);
            break;
        case 'i': v.text = text_at(strings, r.number(4)); break;
        case 'l': v.text = text_at(line_strings, r.number(4)); break;
        case '?': v.known = false; break;
        default: v.number = r.number(kind - '0');
    }
    return v;
}

}  // namespace sim
