#ifndef MSD_PROTO_FRAME_H
#define MSD_PROTO_FRAME_H
/*
 * The 16-byte frame header: { u8 magic[4]; u32 body_bytes; u64 payload_bytes; }, all
 * little-endian. body_bytes of msgpack follow, then payload_bytes of raw tensor data.
 */
#include <stdint.h>

#include "proto/base/diag.h"
#include "proto/limits.h"

struct msd_frame {
	uint32_t body_bytes;
	uint64_t payload_bytes;
};

/** Write the header of @f, without checks. */
void msd_frame_write(struct msd_frame f, uint8_t out[static MSD_FRAME_HEADER_BYTES]);
/**
 * Read and check a header before any allocation. Errors: MSD_PROTOCOL (wrong magic,
 * other version, empty body), MSD_TOO_LARGE (body over @max_body_bytes, payload over
 * @max_payload_bytes). Both close the connection.
 */
msd_err msd_frame_read(const uint8_t in[static MSD_FRAME_HEADER_BYTES],
		       uint32_t max_body_bytes, uint64_t max_payload_bytes,
		       struct msd_frame *ret, struct msd_diag *d);

#endif
