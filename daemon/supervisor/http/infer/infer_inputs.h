#ifndef MSD_SUPERVISOR_INFER_INPUTS_H
#define MSD_SUPERVISOR_INFER_INPUTS_H
/* Copy or read the inputs of an `infer` into the payload of its call. */
#include "daemon/http/scatter.h"
#include "daemon/supervisor/http/infer/infer_make.h"

struct msd_http_session;
struct msd_session;

#define MSD_INFER_PUT_BYTES (256u * 1024u) /* that one step copies */

/* The next byte to copy: its input's place, and its position there. */
struct msd_infer_put {
	uint32_t place;
	uint64_t bytes;
};

/**
 * Write a part of the available inputs of @ask to @payload, from @at on: JSON inputs,
 * and binary inputs if they are in @behind. p NULL: the binary inputs are still
 * arriving. Returns true if all are written.
 */
MSD_MUST_CHECK bool msd_infer_put_inputs(const struct msd_infer_call *c,
					 const struct msd_infer_ask *ask,
					 struct msd_span behind, uint8_t *payload,
					 struct msd_infer_put *at);
/**
 * The destinations in @payload of the inputs that are still arriving, in order. They
 * are pieces of @c; only one such list exists at a time.
 */
struct msd_scatter msd_infer_await_inputs(struct msd_infer_call *c, uint8_t *payload);
/**
 * See msd_frontend_ops.came: counts all bytes if inputs are not stored in order of
 * arrival.
 */
uint64_t msd_infer_came(struct msd_session *s);
/**
 * The end of the room for inputs that are still arriving; NULL: there is room for
 * all.
 */
const uint8_t *msd_infer_room_end(const struct msd_http_session *c);

#endif
