#ifndef MSD_TESTS_CLOCK_H
#define MSD_TESTS_CLOCK_H
/* A program that links this has a false clock: it is the machine's and what
 * clock_pass() has added. No deadline passes by itself that is longer than a test has
 * patience for. */
#include <stdint.h>

/** CLOCK_MONOTONIC goes on by this much; 0: it is the machine's again. */
void clock_pass(uint64_t ms);

#endif
