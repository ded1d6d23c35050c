// The simulator's own functions of std::string. With -D_GLIBCXX_ASSERTIONS or -std=c++20, the object of a program has
// such functions, too, and there the compiler watches every access. The linker takes the first that it finds, and the
// simulator comes first: without this file it would call those of the program, and watch itself.

#include <string>

template class std::basic_string<char>;
