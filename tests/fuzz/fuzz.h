#ifndef MSD_TESTS_FUZZ_H
#define MSD_TESTS_FUZZ_H
/*
 * A fuzz target: one function over one parser. fuzz_main.c makes a libFuzzer binary of
 * it, replay_main.c a program that runs it over a folder of files
 * (cmake/MsdFuzz.cmake).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * Parse @data and, when it is accepted, walk what came out of it, so that bad spans are
 * seen by the sanitizers. Non-zero when the parser accepts. @data has exactly @n bytes
 * on the heap. A broken promise of the parser ends in abort().
 */
int msd_fuzz_accepts(const uint8_t *data, size_t n);

/** A promise that is broken ends the run, with its words and place. */
#define MUST(claim) ((claim) ? (void)0 : msd_fuzz_broken(#claim, __FILE__, __LINE__))
static inline _Noreturn void msd_fuzz_broken(const char *claim, const char *file,
					     int line)
{
	(void)fprintf(stderr, "%s:%d: not so: %s\n", file, line, claim);
	abort();
}

#endif
