#include "proto/frame.h"

#include <inttypes.h>
#include <string.h>

#include "proto/base/bytes.h"
#include "proto/tvm_rpc/hello.h"

enum {
	MAGIC_BYTES = 4,
	AT_VERSION = 3,
	AT_BODY = 4,
	AT_PAYLOAD = 8,
};

/* First bytes of a TLS ClientHello. */
enum { TLS_HANDSHAKE = 0x16, TLS_MAJOR = 3 };

void msd_frame_write(struct msd_frame f, uint8_t out[static MSD_FRAME_HEADER_BYTES])
{
	memcpy(out, MSD_MAGIC, MAGIC_BYTES);
	msd_put_le32(out + AT_BODY, f.body_bytes);
	msd_put_le64(out + AT_PAYLOAD, f.payload_bytes);
}

/* The input does not begin with MSD_MAGIC. */
static msd_err refuse_magic(const uint8_t in[static MAGIC_BYTES], struct msd_diag *d)
{
	if (in[0] == TLS_HANDSHAKE && in[1] == TLS_MAJOR) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "frame: begins a TLS handshake, but this listener "
				    "does not use TLS");
	}
	if (msd_le32(in) == MSD_RPC_MAGIC) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "frame: begins TVM's RPC: its clients connect to "
				    "the address that modserd --tvm-rpc names");
	}
	if (memcmp(in, MSD_MAGIC, AT_VERSION) != 0) {
		return msd_diag_set(
			d, MSD_PROTOCOL,
			"frame: begins with %02x %02x %02x, not with ed 6d 64", in[0],
			in[1], in[2]);
	}
	return msd_diag_set(d, MSD_PROTOCOL,
			    "frame: protocol version %u; this side speaks %u",
			    in[AT_VERSION], MSD_PROTOCOL_VERSION);
}

msd_err msd_frame_read(const uint8_t in[static MSD_FRAME_HEADER_BYTES],
		       uint32_t max_body_bytes, uint64_t max_payload_bytes,
		       struct msd_frame *ret, struct msd_diag *d)
{
	struct msd_frame f = {.body_bytes = msd_le32(in + AT_BODY),
			      .payload_bytes = msd_le64(in + AT_PAYLOAD)};

	if (memcmp(in, MSD_MAGIC, MAGIC_BYTES) != 0)
		return refuse_magic(in, d);
	if (f.body_bytes == 0)
		return msd_diag_set(d, MSD_PROTOCOL, "frame: the body is empty");
	if (f.body_bytes > max_body_bytes) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "frame: body of %u bytes; at most %u are allowed",
				    f.body_bytes, max_body_bytes);
	}
	if (f.payload_bytes > max_payload_bytes) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "frame: payload of %" PRIu64
				    " bytes; at most %" PRIu64 " are allowed",
				    f.payload_bytes, max_payload_bytes);
	}
	*ret = f;
	return MSD_OK;
}
