#include "daemon/supervisor/http/infer_inputs.h"

#include <string.h>

void msd_infer_put_inputs(const struct msd_infer_call *c,
			  const struct msd_infer_ask *ask, struct msd_span behind,
			  uint8_t *payload)
{
	for (uint32_t i = 0; i < c->n_places; i++) {
		const struct msd_infer_place *p = &c->places[i];
		if (p->input == NULL || p->input->bytes == 0 ||
		    (!p->input->has_data && behind.p == NULL))
			continue;
		memcpy(payload + p->offset,
		       (p->input->has_data ? ask->values.p : behind.p) + p->input->from,
		       (size_t)p->input->bytes);
	}
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
