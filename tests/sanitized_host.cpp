// Host code with faults, which tests/sanitized.cu calls.

namespace {

volatile int count = 0;

}  // namespace

extern "C" void count_without_a_lock() { count = count + 1; }

extern "C" void behind_an_array_on_the_stack(int index)
{
    char array[64];
    char* volatile begin = array;  // whose length the compiler does not know
    begin[index] = 1;
}
