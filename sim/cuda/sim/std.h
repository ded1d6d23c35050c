// cuda::std is the host's std: a kernel is host code here.

#pragma once
#pragma GCC system_header

#include <type_traits>

namespace cuda {
namespace std {
using namespace ::std;
}  // namespace std
}  // namespace cuda
