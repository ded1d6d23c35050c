// malloc, free, new, delete and printf in device code: they become calls for the heap and the output of the device.

#pragma once

#include "edits.h"
#include "variables.h"

namespace rewrite {

class Heap {
public:
    Heap(const Source& source, Edits& edits, Variables& variables)
        : source_(source), edits_(edits), variables_(variables)
    {
    }

    // Rewrites the word at i, if it is one of these.
    void word(int i);
    // Declares the heap at the end of the text, if there was such a word.
    void declare();

private:
    const Source& source_;
    Edits& edits_;
    Variables& variables_;
    bool used_ = false;
};

}  // namespace rewrite
