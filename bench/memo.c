#include "bench/memo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/link.h"

#define MEMOS 8u
#define BEHIND_ID (BENCH_ID_AT + 8u)

static struct {
	size_t n;
	uint8_t bytes[BENCH_MEMO_BYTES];
} memos[MEMOS];
static size_t n_memos;

bool bench_memo_knows(const uint8_t *frame, size_t n)
{
	for (size_t i = 0; i < n_memos; i++) {
		if (memos[i].n == n &&
		    memcmp(memos[i].bytes, frame, BENCH_ID_AT) == 0 &&
		    memcmp(memos[i].bytes + BEHIND_ID, frame + BEHIND_ID,
			   n - BEHIND_ID) == 0)
			return true;
	}
	if (n_memos == MEMOS || n < BEHIND_ID || n > BENCH_MEMO_BYTES) {
		(void)fprintf(stderr, "a frame that cannot be remembered\n");
		exit(1);
	}
	memos[n_memos].n = n;
	memcpy(memos[n_memos++].bytes, frame, n);
	return false;
}
