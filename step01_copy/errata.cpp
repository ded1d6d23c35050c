// Step 1, errata: published conclusions from times, and the same times, which contradict them.
//
//   make step01 && ./step01 --errata

#include "../common/step.h"

using harness::format;

// The book's table 9.1: ms on a Tesla K20c and on one core of its host. transposed: the rows that were transposed.

static std::string above_the_peak(int side, int transposed, double ms)
{
    const harness::Machine card = harness::machine_named("k20c");
    const uint64_t bytes = 2ull * 4 * side * transposed;
    return harness::impossible(harness::bandwidth_gbs(bytes, ms), card.dram_peak_gbs(), bytes, card.l2_bytes);
}

static std::string countsRowsThatWereLeftOut() { return above_the_peak(8192, 8192, 2.009); }
static std::string countsRowsThatWereTransposed() { return above_the_peak(8192, 512, 2.009); }

ERRATUM(countsRowsThatWereLeftOut, E21)
    .published_in("book 9.2, 9.8")
    .with_methods(countsRowsThatWereLeftOut, countsRowsThatWereTransposed)
    .corrected_by("countsRowsThatWereTransposed")
    .story("Published: gpu_1_1 takes 2.009 ms for 8192 x 8192 floats, 1.7 times as fast as the next kernel, "
           "gpu_1_0, and 2.9 times as fast as the best one with 2D blocks. As effective bandwidth that is more "
           "than the card's memory can deliver, and more than its cudaMemcpy. The figure was a result; it should "
           "have been an alarm. The kernel leaves out 15 of 16 rows (E1). What remains: 16.7 GB/s, for the rows "
           "that it transposed.");

static std::string copies_decide(int side, double cpu_ms, double gpu_ms, double copies_ms)
{
    if ((gpu_ms < cpu_ms) == (gpu_ms + copies_ms < cpu_ms)) return "";
    return format("incomplete comparison: at %d x %d the CPU takes %.3f ms and the GPU %.3f ms, "
                  "but %.3f ms with the copies to it and back",
                  side, side, cpu_ms, gpu_ms, gpu_ms + copies_ms);
}

static std::string leavesOutTheCopies() { return copies_decide(2048, 12.517, 0.474, 12.630); }
static std::string countsTheCopies() { return copies_decide(8192, 472.448, 5.860, 203.989); }

ERRATUM(leavesOutTheCopies, E20)
    .published_in("book 9.8")
    .with_methods(leavesOutTheCopies, countsTheCopies)
    .corrected_by("countsTheCopies")
    .story("Published: on the whole the GPU is much faster than the CPU. The times leave out the way to the "
           "device and back, which the book's own rule 17.9 counts and the same table prints as memcpy. With it, "
           "the CPU is ahead up to 2048 x 2048. What remains: the GPU is ahead from 4096 x 4096 on, and at every "
           "size where the data is on the device already.");

static std::string one_kernel_two_times(int side, double here_ms, double there_ms)
{
    const double ratio = there_ms / here_ms;
    if (ratio < 1.1 && ratio > 1 / 1.1) return "";
    return format("two times for one kernel: at %d x %d %.3f ms in one table and %.3f ms in the other, a ratio of %.2f",
                  side, side, here_ms, there_ms, ratio);
}

static std::string comparesAcrossTables() { return one_kernel_two_times(4096, 1.348, 1.593); }
static std::string comparesWithinATable() { return one_kernel_two_times(8192, 5.860, 5.901); }

ERRATUM(comparesAcrossTables, E22)
    .published_in("book 9.1, 9.3")
    .with_methods(comparesAcrossTables, comparesWithinATable)
    .corrected_by("comparesWithinATable")
    .story("Published: looping blocks beat gpu_2_2 in table 9.3. That table's gpu_2_2 is not the one of table "
           "9.1: its times are 1 to 18 % longer, evidently because its tile has 32 x 32 elements and not 16 x 16. "
           "With the times of table 9.1, the looping blocks lose at 2048 x 2048, 0.519 ms against 0.474. What "
           "remains: nothing before both kernels have equal tiles and blocks, in one run.");

// The measured bandwidth of a copy, against a peak of the memory: clock x width x transfers for each clock.
static std::string copy_over_peak(int transfers)
{
    const uint64_t bytes = 2ull * 4 * 8192 * 8192;
    return harness::impossible(160.15, 2.6 * 320 / 8 * transfers, bytes, harness::machine_named("k20c").l2_bytes);
}

static std::string countsOneTransferForEachClock() { return copy_over_peak(1); }
static std::string countsTwoTransfersForEachClock() { return copy_over_peak(2); }

ERRATUM(countsOneTransferForEachClock, E23)
    .published_in("book 17")
    .with_methods(countsOneTransferForEachClock, countsTwoTransfersForEachClock)
    .corrected_by("countsTwoTransfersForEachClock")
    .story("Published: a way to work out the peak of a card's memory, clock x width of the bus. For a K20c, 2600 "
           "MHz x 320 bit, it gives 96.9 GiB/s, or 104 GB/s, and the book's own cudaMemcpy moves 160.2. DDR "
           "memory transfers twice for each clock. What remains: the rule, with a factor of 2, and 208 GB/s.");

static std::string copy_of_the_whitepaper(double peak_gbs)
{
    const harness::Machine card = harness::machine_named("m2090");
    const double copy_gbs = 125.2 * 1.073741824;
    return harness::impossible(copy_gbs, peak_gbs, 2ull * 4 * 2048 * 2048, card.l2_bytes);
}

static std::string givesTheM2090TooLittle() { return copy_of_the_whitepaper(117.6); }
static std::string givesTheM2090ItsPeak() { return copy_of_the_whitepaper(177.6); }

ERRATUM(givesTheM2090TooLittle, E24)
    .published_in("bandwidth post")
    .with_methods(givesTheM2090TooLittle, givesTheM2090ItsPeak)
    .corrected_by("givesTheM2090ItsPeak")
    .story("Published: the theoretical peak of a Tesla M2090 is 117.6 GB/s. Clock x width of the bus x 2 is 1850 MHz x "
           "384 bit x 2 = 177.6 GB/s, so a digit was lost. A copy shows it: the whitepaper's takes 134.4 GB/s on this "
           "card. What remains: the advice to compare with the peak, once the peak is right.");

// Follows a program by what it does in turn: l launches a kernel, w waits for the GPU, c reads the clock.
static std::string reads_the_clock(const std::string& calls)
{
    for (size_t i = 0, running = 0; i < calls.size(); ++i) {
        if (calls[i] == 'c' && running)
            return format("clock read early: at call %zu of %zu, %zu kernel may still be running", i + 1, calls.size(),
                          running);
        running = calls[i] == 'l' ? running + 1 : calls[i] == 'w' ? 0 : running;
    }
    return "";
}

static std::string timesWithoutWaiting() { return reads_the_clock("clwcllwclc"); }
static std::string timesAfterWaiting() { return reads_the_clock("clwcllwclwc"); }

ERRATUM(timesWithoutWaiting, E34)
    .published_in("book 17.4")
    .with_methods(timesWithoutWaiting, timesAfterWaiting)
    .corrected_by("timesAfterWaiting")
    .story("Published: a launch takes 6.000 us, as one launch between two readings of the clock shows. A launch only "
           "enqueues the kernel and returns. The program waits for the GPU after the first launch and after the 1000 "
           "that follow, and not after this one, so the clock times the host. What remains: the mean of the 1000, "
           "6.267 us, after which it does wait.");
