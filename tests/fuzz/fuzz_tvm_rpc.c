#include <string.h>

#include "proto/tvm_rpc/hello.h"
#include "proto/tvm_rpc/packet.h"
#include "proto/tvm_rpc/tracker.h"
#include "tests/fuzz/fuzz.h"

/* Walk all values, and what they point to. */
static int walk(enum msd_rpc_era era, struct msd_span bytes)
{
	struct msd_rpc_value v;
	struct msd_rpc_seq s;
	uint64_t sum = 0;

	if (msd_rpc_seq_begin(&s, era, bytes, NULL) != MSD_OK)
		return 0;
	while (s.n > 0) {
		if (msd_rpc_seq_next(&s, &v, NULL) != MSD_OK)
			return 0;
		if (v.kind == MSD_RPC_TEXT || v.kind == MSD_RPC_BYTES) {
			for (size_t i = 0; i < v.as.bytes.n; i++)
				sum += v.as.bytes.p[i];
		}
		if (v.kind == MSD_RPC_TENSOR) {
			for (uint32_t i = 0; i < v.as.tensor.ndim; i++) {
				MUST(msd_rpc_tensor_extent(&v.as.tensor, i) >= 0);
				sum++;
			}
		}
	}
	return msd_rpc_seq_end(&s, NULL) == MSD_OK && sum != UINT64_MAX;
}

/* The same bytes as the text of a hello. */
static void greet(const uint8_t *data, size_t n)
{
	uint8_t bytes[8 + MSD_RPC_MAX_HELLO_BYTES];
	struct msd_rpc_hello h;
	size_t used;

	n = n < MSD_RPC_MAX_HELLO_BYTES ? n : MSD_RPC_MAX_HELLO_BYTES;
	msd_put_le32(bytes, MSD_RPC_MAGIC);
	msd_put_le32(bytes + 4, (uint32_t)n);
	memcpy(bytes + 8, data, n);
	if (msd_rpc_hello_read((struct msd_span){bytes, 8 + n}, &h, &used, NULL) ==
	    MSD_OK)
		MUST(used == 8 + n && h.key.n <= n);
}

static bool on_key(void *user, struct msd_span key)
{
	size_t *n_bytes = user;

	MUST(key.n <= MSD_RPC_TRACKER_TEXT_BYTES + 1);
	for (size_t i = 0; i < key.n; i++)
		*n_bytes += key.p[i] != 0;
	return true;
}

/* The same bytes as an answer of a tracker. */
static void track(const uint8_t *data, size_t n)
{
	size_t n_bytes = 0;

	if (msd_rpc_tracker_read_left((struct msd_span){data, n}, on_key, &n_bytes,
				      NULL) == MSD_OK)
		MUST(n_bytes < n && data[n - 1] != '0');
	(void)!msd_rpc_tracker_read_done((struct msd_span){data, n}, NULL);
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_rpc_packet p;
	enum msd_rpc_era era;

	greet(data, n);
	track(data, n);
	if (msd_rpc_packet_read((struct msd_span){data, n}, n, &p, NULL) != MSD_OK)
		return 0;
	MUST(p.data.n <= n && p.seq.n <= n);
	if (p.seq.n == 0)
		return p.code != MSD_RPC_RETURN && p.code < MSD_RPC_GET_GLOBAL;
	if (msd_rpc_packet_era(&p, &era, NULL) != MSD_OK)
		return 0;
	MUST(walk(era, p.seq));
	return 1;
}
