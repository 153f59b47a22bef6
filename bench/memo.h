#ifndef MSD_BENCH_MEMO_H
#define MSD_BENCH_MEMO_H
/*
 * Frames that came before. A frame that equals one of them in every byte but the id's
 * eight needs nothing read: the least that a server can do that looks at what it gets.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_MEMO_BYTES 256u

/** Whether @frame was known; it is from now on. One that is too big, or one too many,
 * ends the program. */
bool bench_memo_knows(const uint8_t *frame, size_t n);

#endif
