#ifndef MSD_BENCH_MEMO_H
#define MSD_BENCH_MEMO_H
/*
 * A set of earlier frames. A frame that equals one of them in every byte except the
 * id's eight needs no parsing: the minimum cost of a server that looks at its
 * requests.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_MEMO_BYTES 256u

/**
 * True if @frame is in the set; adds it otherwise. A frame that is too large, or one
 * too many, terminates the program.
 */
bool bench_memo_knows(const uint8_t *frame, size_t n);

#endif
