#include "daemon/wire/recognise.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* Array, kind and 0xcf, then the id, as msd_body_begin_request() writes them. The scan
 * passes no request that has 0xcf there and its id elsewhere: its array has four or
 * five elements, and its kind is 0. */
#define ID_AT 3u
#define BEHIND_ID (ID_AT + 8u)
#define ID_IN_EIGHT_BYTES 0xcf

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 32);
}

/* Of all bytes but the id's. It only has to tell most bodies apart, fast. */
static uint64_t print_of(struct msd_span b, uint64_t payload_bytes)
{
	uint64_t h = mix(b.n, payload_bytes);
	uint64_t word = 0;
	size_t at = BEHIND_ID;

	for (; b.n - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, b.p + at, sizeof(word));
		h = mix(h, word);
	}
	/* The last eight again, as far as they were not whole. */
	if (b.n >= BEHIND_ID + sizeof(word))
		memcpy(&word, b.p + b.n - sizeof(word), sizeof(word));
	return mix(h, word);
}

static bool is_same(const struct msd_known *k, struct msd_span b,
		    uint64_t payload_bytes)
{
	return k->n_bytes == b.n && k->payload_bytes == payload_bytes &&
	       memcmp(k->bytes, b.p, ID_AT) == 0 &&
	       memcmp(k->bytes + BEHIND_ID, b.p + BEHIND_ID, b.n - BEHIND_ID) == 0;
}

static bool may_be_known(struct msd_span b)
{
	return b.n > BEHIND_ID && b.n <= MSD_MEMORY_BODY_BYTES &&
	       b.p[ID_AT - 1] == ID_IN_EIGHT_BYTES;
}

struct msd_known *msd_memory_find(struct msd_memory *m, struct msd_span body,
				  uint64_t payload_bytes)
{
	if (m->n_known == 0 || !may_be_known(body))
		return NULL;
	uint64_t print = print_of(body, payload_bytes);
	for (unsigned i = 0; i < m->n_known; i++) {
		if (m->prints[i] == print && is_same(m->known[i], body, payload_bytes))
			return m->known[i];
	}
	return NULL;
}

/* Whether a body with this fingerprint came lately; it has now. */
static bool was_seen(struct msd_memory *m, uint64_t print)
{
	for (unsigned i = 0; i < m->n_seen; i++) {
		if (m->seen[i] == print)
			return true;
	}
	m->seen[m->next_seen] = print;
	m->next_seen = (m->next_seen + 1) % MSD_MEMORY_BODIES;
	if (m->n_seen < MSD_MEMORY_BODIES)
		m->n_seen++;
	return false;
}

/* The place for one more; MSD_MEMORY_BODIES: all are in use. */
static unsigned make_place(struct msd_memory *m)
{
	if (m->n_known < MSD_MEMORY_BODIES)
		return m->n_known++;
	for (unsigned i = 0; i < MSD_MEMORY_BODIES; i++) {
		unsigned at = m->next_known;
		m->next_known = (at + 1) % MSD_MEMORY_BODIES;
		if (m->known[at]->n_users == 0) {
			free(m->known[at]->plan);
			free(m->known[at]);
			return at;
		}
	}
	return MSD_MEMORY_BODIES;
}

static struct msd_span move(struct msd_span part, const uint8_t *from,
			    const uint8_t *to)
{
	return part.n == 0 ? part : (struct msd_span){to + (part.p - from), part.n};
}

struct msd_known *msd_memory_add(struct msd_memory *m, struct msd_span bytes,
				 uint64_t payload_bytes, const struct msd_body *body)
{
	if (body->kind != MSD_REQUEST || !may_be_known(bytes))
		return NULL;
	uint64_t print = print_of(bytes, payload_bytes);
	if (!was_seen(m, print))
		return NULL;
	struct msd_known *k = malloc(sizeof(*k) + bytes.n);
	unsigned at = k != NULL ? make_place(m) : MSD_MEMORY_BODIES;
	if (at == MSD_MEMORY_BODIES) {
		free(k);
		return NULL;
	}
	*k = (struct msd_known){.body = *body,
				.payload_bytes = payload_bytes,
				.n_bytes = (uint32_t)bytes.n};
	memcpy(k->bytes, bytes.p, bytes.n);
	k->body.method = move(body->method, bytes.p, k->bytes);
	k->body.params = move(body->params, bytes.p, k->bytes);
	k->body.options = move(body->options, bytes.p, k->bytes);
	m->known[at] = k;
	m->prints[at] = print;
	return k;
}

void msd_memory_drop(struct msd_memory *m, struct msd_known *known)
{
	for (unsigned i = 0; i < m->n_known; i++) {
		if (m->known[i] != known)
			continue;
		free(known->plan);
		free(known);
		m->n_known--;
		m->known[i] = m->known[m->n_known];
		m->prints[i] = m->prints[m->n_known];
		return;
	}
}

void msd_memory_finish(struct msd_memory *m)
{
	while (m->n_known > 0)
		msd_memory_drop(m, m->known[0]);
}

uint64_t msd_memory_id(const uint8_t *body)
{
	uint64_t id;

	memcpy(&id, body + ID_AT, sizeof(id));
	return be64toh(id);
}
