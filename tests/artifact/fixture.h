#ifndef MSD_TESTS_FIXTURE_H
#define MSD_TESTS_FIXTURE_H
/*
 * Real artifacts, which are not part of the repository: in $MODSERD_FIXTURES or in
 * ../shared/fixtures beside the source.
 */
#include "tests/artifact/byte_writer.h"

/** The whole file in a block of its exact size; aborts when it cannot be read. */
struct bw fixture_read(const char *path);
/**
 * Call @each for every file under folder @dir of the fixtures, at most one folder
 * deeper, whose name ends in @suffix. Returns their number; 0 after a "skipped:" line.
 */
size_t fixture_each(const char *dir, const char *suffix,
		    void (*each)(const char *path));

#endif
