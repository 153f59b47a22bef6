/*
 * All bytes of a client of TVM's RPC after its hello. A session accepts them if it ends
 * between two packets. Bytes that load a library would run it, so files that begin like
 * one are left out.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/rpc_world.h"

#define ROOM 65536u

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_rpc_page page = {0};
	static uint8_t answers[ROOM];

	if (memmem(data, n,
		   "\x7f"
		   "ELF",
		   4) != NULL)
		return 0;
	const size_t got = rpc_world_serve(data, n, answers, sizeof(answers), &page);
	MUST(page.name[0] == '\0');
	MUST(got <= page.out_bytes + page.answer_bytes);
	return n > 0 && page.in_bytes == n;
}
