#ifndef MSD_TESTS_TAR_WRITER_H
#define MSD_TESTS_TAR_WRITER_H
/* Tar archives block by block, so that tests can write what no library would. */
#include "tests/artifact/byte_writer.h"

/** One entry: @type is '0' (file), '5' (folder), '1' or '2' (links), '3', '4', '6'. */
void tar_put(struct bw *w, const char *path, char type, const void *data, size_t n);
/** The same with a size in the header that is not the data's. */
void tar_put_sized(struct bw *w, const char *path, char type, const void *data,
		   size_t n, unsigned long long size);
void tar_put_text(struct bw *w, const char *path, const char *text);
/** The end marker. */
void tar_end(struct bw *w);

#endif
