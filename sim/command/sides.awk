# What clang says of calls between the host and the device, one line for each: FILE:LINE: what is wrong.
#
# An error counts if it is in the program, and it or its notes say that a function or a variable is of the other side.
# The simulator's headers, and those of mathematics, are for both sides, and so are a few functions of C. nvcc only
# warns where a function is for both sides itself. All other errors are of clang alone.

function own(file) {
    return file !~ /^\/usr\/|\/include\/c\+\+\/|\/lib\/clang\/|sim\/(cuda|core|command)\/|\.headers\//
}

function end_of_error() {
    if (!error || both) return
    if (name ~ /^(printf|vprintf|malloc|free|memcpy|memset|memmove|abs|labs|llabs|clock|alloca|__assert_fail)$/) return
    if (name ~ /^operator (new|delete)|^(thread|block)Idx$|^(block|grid)Dim$/) return
    if (!wrong) return
    print place ": " (name ? name : "something here") (side == "host" \
        ? " is of the host; nvcc refuses it in device code. Declare it __device__, if it is yours" \
        : side == "global" ? " is a kernel, and is called without <<<>>>" \
        : " is of the device; the host cannot call it. Declare it __host__ __device__, or call it in a kernel")
}

match($0, /^[^ ][^:]*:[0-9]+:[0-9]+: (error|note): /) {
    head = substr($0, 1, RLENGTH)
    text = substr($0, RLENGTH + 1)
    file = head
    sub(/:[0-9]+:[0-9]+: (error|note): $/, "", file)
    if (head ~ /error: $/) {
        end_of_error()
        place = head
        sub(/:[0-9]+: error: $/, "", place)
        error = own(file)
        both = wrong = 0
        name = text
        if (!sub(/^[^']*'/, "", name)) name = ""
        sub(/'.*/, "", name)
    } else if (text ~ /declared here|not viable: call to __/ && file ~ /sim\/(cuda|core)\/|math/) {
        both = 1
    }
    if (text ~ /^reference to __host__ (function|variable) .* in __(global|device)__ function/ ||
        text ~ /not viable: call to __host__ function from __(global|device)__ function/) { wrong = 1; side = "host" }
    if (text ~ /^reference to __device__ function .* in __host__ function/ ||
        text ~ /not viable: call to __device__ function from __host__ function/) { wrong = 1; side = "device" }
    address = text ~ /^reference to __device__ function/
    if (text ~ /^call to global function .* not configured/) { wrong = 1; side = "global" }
}
# The source follows. A function may be named without a call, as an argument of a template.
address && !/ (error|note): / { if (!index($0, name "(")) wrong = 0; address = 0 }
END { end_of_error() }
