#include "daemon/supervisor/request/proxy_head.h"

#include <string.h>

#include "daemon/supervisor/request/network.h"

#define SIGNATURE_BYTES 12u
#define VERSION 2u
enum command { LOCAL = 0, PROXY = 1 };
enum family { UNSPEC = 0, IPV4 = 1, IPV6 = 2, UNIX = 3 };
enum protocol { UNKNOWN = 0, STREAM = 1 };
#define TLV_HEAD_BYTES 3u
#define TLV_SSL 0x20u
#define CLIENT_SSL 0x01u /* flag in its first byte: the client uses TLS */

static const uint8_t signature[SIGNATURE_BYTES] = {0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d,
						   0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};

/* Size of both addresses and ports of each family. */
static const size_t address_bytes[] = {
	[UNSPEC] = 0, [IPV4] = 12, [IPV6] = 36, [UNIX] = 216};

static size_t pair(const uint8_t *p)
{
	return (size_t)p[0] << 8 | p[1];
}

static size_t whole(const struct msd_proxy_head *h)
{
	return MSD_PROXY_HEAD_FIXED + pair(h->bytes + 14);
}

size_t msd_proxy_head_wants(const struct msd_proxy_head *h)
{
	if (h->n < MSD_PROXY_HEAD_FIXED)
		return MSD_PROXY_HEAD_FIXED - h->n;
	if (whole(h) > MSD_PROXY_HEAD_MAX)
		return 0;
	return whole(h) - h->n;
}

static msd_err wrong(const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_PROTOCOL, "its PROXY header %s", what);
}

/* Its first 16 bytes have arrived. */
static msd_err read_fixed(const struct msd_proxy_head *h, struct msd_diag *d)
{
	const unsigned version = h->bytes[12] >> 4, command = h->bytes[12] & 0xfu;
	const unsigned family = h->bytes[13] >> 4, protocol = h->bytes[13] & 0xfu;

	if (version != VERSION)
		return wrong("is not of version 2", d);
	if (command > PROXY)
		return wrong("has an unknown command", d);
	if (family > UNIX)
		return wrong("has an unknown address family", d);
	if (protocol > STREAM && command == PROXY)
		return wrong("is not for a stream", d);
	if (whole(h) > MSD_PROXY_HEAD_MAX)
		return wrong("is longer than 2048 bytes", d);
	if (pair(h->bytes + 14) < address_bytes[family] && command == PROXY)
		return wrong("is shorter than its addresses", d);
	return MSD_OK;
}

/* Read the data after the addresses; only the client's use of TLS matters here. */
static msd_err read_rest(const uint8_t *p, size_t n, bool *ret_is_tls,
			 struct msd_diag *d)
{
	*ret_is_tls = false;
	while (n > 0) {
		if (n < TLV_HEAD_BYTES || pair(p + 1) > n - TLV_HEAD_BYTES)
			return wrong("ends within a field", d);
		const size_t length = pair(p + 1);
		if (p[0] == TLV_SSL && length > 0)
			*ret_is_tls = (p[TLV_HEAD_BYTES] & CLIENT_SSL) != 0;
		p += TLV_HEAD_BYTES + length;
		n -= TLV_HEAD_BYTES + length;
	}
	return MSD_OK;
}

static struct msd_proxied whose(unsigned family, const uint8_t *addresses, bool is_tls)
{
	uint8_t at[MSD_ADDRESS_BYTES];

	if (family != IPV4 && family != IPV6)
		return (struct msd_proxied){0}; /* unsupported address family */
	if (family == IPV4) {
		msd_network_map(addresses, at);
	} else {
		memcpy(at, addresses, sizeof(at));
	}
	return (struct msd_proxied){.client = msd_peer_id_of_address(at),
				    .is_sealed = is_tls || msd_network_is_loopback(at)};
}

msd_err msd_proxy_head_read(const struct msd_proxy_head *h, struct msd_proxied *ret,
			    struct msd_diag *d)
{
	const size_t n_known = h->n < SIGNATURE_BYTES ? h->n : SIGNATURE_BYTES;
	const uint8_t *addresses = h->bytes + MSD_PROXY_HEAD_FIXED;
	bool is_tls = false;

	if (memcmp(h->bytes, signature, n_known) != 0) {
		return msd_diag_set(d, MSD_REFUSED,
				    "its address is in --proxy-from, but it sent no "
				    "PROXY header of version 2");
	}
	if (h->n < MSD_PROXY_HEAD_FIXED)
		return MSD_WAIT;
	msd_err err = read_fixed(h, d);
	if (err != MSD_OK)
		return err;
	if (h->n < whole(h))
		return MSD_WAIT;
	if ((h->bytes[12] & 0xfu) == LOCAL) {
		*ret = (struct msd_proxied){0};
		return MSD_OK;
	}
	const unsigned family = h->bytes[13] >> 4;
	const size_t skip = address_bytes[family];
	err = read_rest(addresses + skip, whole(h) - MSD_PROXY_HEAD_FIXED - skip,
			&is_tls, d);
	if (err == MSD_OK)
		*ret = whose(family, addresses, is_tls);
	return err;
}
