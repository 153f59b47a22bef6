#include "daemon/supervisor/http/infer/infer_inputs.h"

#include <string.h>

#include "daemon/supervisor/http/http_session.h"
#include "daemon/supervisor/http/infer/infer_state.h"

bool msd_infer_put_inputs(const struct msd_infer_call *c,
			  const struct msd_infer_ask *ask, struct msd_span behind,
			  uint8_t *payload, struct msd_infer_put *at)
{
	uint64_t left = MSD_INFER_PUT_BYTES;

	for (; at->place < c->n_places; at->place++, at->bytes = 0) {
		const struct msd_infer_place *p = &c->places[at->place];
		if (p->input == NULL || (!p->input->has_data && behind.p == NULL))
			continue;
		const uint8_t *from = (p->input->has_data ? ask->values.p : behind.p) +
				      p->input->from;
		const uint64_t rest = p->input->bytes - at->bytes;
		const uint64_t n = rest < left ? rest : left;
		if (n > 0) {
			memcpy(payload + p->offset + at->bytes, from + at->bytes,
			       (size_t)n);
		}
		if (n < rest) {
			at->bytes += n;
			return false;
		}
		left -= n;
	}
	return true;
}

struct msd_scatter msd_infer_await_inputs(struct msd_infer_call *c, uint8_t *payload)
{
	struct msd_scatter s = {.pieces = c->pieces};

	for (uint32_t i = 0; i < c->n_places; i++) {
		const struct msd_infer_place *p = &c->places[i];
		if (p->input == NULL || p->input->bytes == 0 || p->input->has_data)
			continue;
		c->pieces[s.n++] = (struct iovec){.iov_base = payload + p->offset,
						  .iov_len = (size_t)p->input->bytes};
	}
	return s;
}

uint64_t msd_infer_came(struct msd_session *s)
{
	const struct msd_http_session *c =
		MSD_CONTAINER_OF(s, struct msd_http_session, session);
	const struct msd_placement *p = &s->receiving->placement;
	const struct msd_infer_call *call = &c->infer->call;
	const uint8_t *at = p->slot.p;

	for (uint32_t i = 0; i < call->n_places; i++) {
		if (call->places[i].input != NULL && call->places[i].input->has_data)
			return p->wanted_bytes;
	}
	for (uint32_t i = 0; i < c->inputs.n; i++) {
		const uint8_t *next = c->inputs.pieces[i].iov_base;
		if (next < at)
			return p->wanted_bytes;
		at = next;
	}
	return c->inputs.n == 0 ? p->slot.bytes
				: (uint64_t)((uint8_t *)c->inputs.pieces[0].iov_base -
					     p->slot.p);
}

const uint8_t *msd_infer_room_end(const struct msd_http_session *c)
{
	const struct msd_req *r = c->session.receiving;

	return r != NULL && r->placement.missing_bytes > 0
		       ? r->placement.slot.p + r->placement.slot.bytes
		       : NULL;
}
