#ifndef MSD_TESTS_FUZZ_H
#define MSD_TESTS_FUZZ_H
/*
 * A fuzz target: one function over one parser. fuzz_main.c makes a libFuzzer binary of
 * it, replay_main.c a program that runs it over a folder of files
 * (cmake/MsdFuzz.cmake).
 */
#include <stddef.h>
#include <stdint.h>

/**
 * Parse @data and, when it is accepted, walk what came out of it, so that bad spans are
 * seen by the sanitizers. Non-zero when the parser accepts. @data has exactly @n bytes
 * on the heap. A broken promise of the parser ends in abort().
 */
int msd_fuzz_accepts(const uint8_t *data, size_t n);

#endif
