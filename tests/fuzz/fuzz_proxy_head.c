#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/request/proxy_head.h"
#include "tests/fuzz/fuzz.h"

/* Feed it in pieces of at most @step bytes; *@ret_n is how many it has taken. */
static msd_err feed(const uint8_t *data, size_t n, size_t step, size_t *ret_n,
		    struct msd_proxied *ret)
{
	struct msd_proxy_head h = {.n = 0};
	struct msd_diag d = {0};
	msd_err err = MSD_WAIT;

	while (err == MSD_WAIT && h.n < n) {
		size_t piece = msd_proxy_head_wants(&h);
		MUST(piece > 0 && piece <= sizeof(h.bytes) - h.n);
		piece = piece < step ? piece : step;
		piece = piece < n - h.n ? piece : n - h.n;
		memcpy(h.bytes + h.n, data + h.n, piece);
		h.n += piece;
		err = msd_proxy_head_read(&h, ret, &d);
	}
	MUST(err != MSD_OK || msd_proxy_head_wants(&h) == 0);
	msd_diag_finish(&d);
	*ret_n = h.n;
	return err;
}

/* It is the same whether it comes at once or byte by byte. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_proxied whole = {0}, bytes = {0};
	size_t n_whole, n_bytes;
	const msd_err err = feed(data, n, SIZE_MAX, &n_whole, &whole);

	MUST(feed(data, n, 1, &n_bytes, &bytes) == err);
	if (err == MSD_OK) {
		MUST(n_whole == n_bytes);
		MUST(msd_peer_id_is(whole.client, bytes.client));
		MUST(whole.is_sealed == bytes.is_sealed);
	}
	return err == MSD_OK;
}
