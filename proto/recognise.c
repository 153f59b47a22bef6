#include "proto/recognise.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "proto/limits.h"
#include "proto/token.h"
#include "proto/value.h"

/* Array head and kind, one byte each, then the id. The scan also accepts a longer
 * head, but such a body is never cached, so never found. */
#define ID_AT 2u
#define FOUR_ELEMENTS 0x94
#define FIVE_ELEMENTS 0x95
/* A cached body has the id as msd_body_begin_request() writes it. */
#define ID_IN_EIGHT_BYTES 0xcf
#define BEHIND_ID (ID_AT + 9u)

/* The end of a cached response, as msd_body_put_timed() and msd_body_put_varied() write
 * it. */
#define TIME_BYTES 8u

/* Length of an id with the first byte @first. 0: not an id, or a signed form, which
 * only the scan handles. */
static size_t id_bytes(uint8_t first)
{
	if (first == ID_IN_EIGHT_BYTES)
		return 9;
	if (first < 0x80)
		return 1;
	return first >= 0xcc && first < ID_IN_EIGHT_BYTES ? 1 + (1u << (first - 0xcc))
							  : 0;
}

/*
 * The bytes of @b to compare, besides its first two: all after the id, except a
 * response's time. Empty if such a body is never cached. A request's id has any form.
 * A response's id has nine bytes, because a forwarder overwrites it.
 */
static struct msd_span told_apart(const struct msd_memory *m, struct msd_span b)
{
	const size_t n_id = b.n > ID_AT ? id_bytes(b.p[ID_AT]) : 0;
	const size_t n_not = ID_AT + n_id + (m->kind == MSD_RESPONSE ? TIME_BYTES : 0);

	if (n_id == 0 || b.n <= n_not || (m->kind == MSD_RESPONSE && n_id != 9) ||
	    b.n - ID_AT - n_id > MSD_MEMORY_BODY_BYTES - BEHIND_ID)
		return (struct msd_span){0};
	return (struct msd_span){b.p + ID_AT + n_id, b.n - n_not};
}

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 32);
}

/* Must be fast, and separate most bodies. */
static uint64_t print_of(struct msd_span told, uint64_t payload_bytes)
{
	const uint8_t *p = told.p;
	uint64_t h = mix(told.n, payload_bytes);
	uint64_t word = 0;
	size_t at = 0;

	for (; told.n - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, p + at, sizeof(word));
		h = mix(h, word);
	}
	/* Mix the last eight bytes again: they include the incomplete word. */
	if (told.n >= sizeof(word))
		memcpy(&word, p + told.n - sizeof(word), sizeof(word));
	return mix(h, word);
}

/* First copy the places of the new body into the entry, so one comparison is enough. */
static bool is_same(const struct msd_memory *m, struct msd_known *k,
		    const uint8_t *begin, struct msd_span told, uint64_t payload_bytes)
{
	const size_t n = told.n + (m->kind == MSD_RESPONSE ? TIME_BYTES : 0);

	if (k->n_bytes != BEHIND_ID + n || k->payload_bytes != payload_bytes ||
	    k->bytes[0] != begin[0] || k->bytes[1] != begin[1])
		return false;
	for (unsigned i = 0; i < k->n_places; i++) {
		msd_wire_tensor_move(k->bytes + k->places[i],
				     told.p + (k->places[i] - BEHIND_ID));
	}
	return memcmp(k->bytes + BEHIND_ID, told.p, told.n) == 0;
}

/* True if @meta is @head and the time. */
static bool begins(struct msd_span meta, const uint8_t *head, size_t n)
{
	return meta.n == n + TIME_BYTES && memcmp(meta.p, head, n) == 0;
}

/* Check that the id, and in a response the time, are where the cache expects them. */
static bool may_be_added(const struct msd_memory *m, const uint8_t *bytes,
			 const struct msd_body *body)
{
	if ((bytes[0] != FOUR_ELEMENTS && bytes[0] != FIVE_ELEMENTS) ||
	    bytes[1] != m->kind || body->kind != m->kind)
		return false;
	return m->kind == MSD_REQUEST ||
	       begins(body->meta, msd_body_timed, MSD_BODY_TIMED_BYTES) ||
	       begins(body->meta, msd_body_varied, MSD_BODY_VARIED_BYTES);
}

static int64_t weight(const struct msd_known *k)
{
	return (int64_t)(sizeof(*k) + k->n_bytes + k->plan_bytes);
}

static void weigh(const struct msd_memory *m, int64_t bytes)
{
	if (m->weigh != NULL)
		m->weigh(m->ctx, bytes);
}

static void forget(struct msd_memory *m, struct msd_known *k)
{
	weigh(m, -weight(k));
	free(k->plan);
	free(k);
}

struct msd_known *msd_memory_find(struct msd_memory *m, struct msd_span body,
				  uint64_t payload_bytes)
{
	if (m->n_known == 0)
		return NULL;
	const struct msd_span told = told_apart(m, body);
	if (told.n == 0)
		return NULL;
	if (is_same(m, m->known[m->found], body.p, told, payload_bytes))
		return m->known[m->found];
	/* With places no fingerprint is possible before the match is known. */
	const uint64_t print = m->has_places ? 0 : print_of(told, payload_bytes);
	for (unsigned i = 0; i < m->n_known; i++) {
		if ((!m->has_places && m->prints[i] != print) ||
		    !is_same(m, m->known[i], body.p, told, payload_bytes))
			continue;
		m->found = i;
		return m->known[i];
	}
	return NULL;
}

struct noting {
	struct msd_memory *memory;
	const uint8_t *bytes;
};

static msd_err note_place(void *ctx, int8_t type, size_t at, size_t n,
			  struct msd_diag *d)
{
	const struct noting *to = ctx;
	struct msd_memory *m = to->memory;
	uint16_t segment;
	uint64_t offset;

	(void)n;
	(void)d;
	if (type != MSD_EXT_TENSOR ||
	    !msd_wire_tensor_in_segment(to->bytes + at, &segment, &offset))
		return MSD_OK;
	if (m->n_noted < MSD_MEMORY_PLACES) {
		m->noted[m->n_noted] =
			(uint16_t)at; /* a body with more places is not cached */
	}
	m->n_noted++;
	return MSD_OK;
}

msd_err msd_memory_scan(struct msd_memory *m, struct msd_span bytes,
			struct msd_body *ret, struct msd_diag *d)
{
	struct noting to = {.memory = m, .bytes = bytes.p};
	const struct msd_ext_visitor visitor = {.visit = note_place, .ctx = &to};

	m->n_noted = 0;
	return msd_body_read_doubted(bytes, m->has_places ? &visitor : NULL,
				     MSD_MAX_OBJECTS, ret, d);
}

/* The fingerprint of @bytes over @told, the bytes to compare, with the noted places
 * zeroed. */
static uint64_t print_apart(const struct msd_memory *m, const uint8_t *bytes,
			    struct msd_span told, uint64_t payload_bytes)
{
	static const uint8_t nowhere[MSD_WIRE_TENSOR_BYTES];
	uint8_t plain[MSD_MEMORY_BODY_BYTES];

	if (m->n_noted == 0)
		return print_of(told, payload_bytes);
	memcpy(plain, told.p, told.n);
	for (unsigned i = 0; i < m->n_noted; i++) {
		msd_wire_tensor_move(plain + m->noted[i] - (told.p - bytes), nowhere);
	}
	return print_of((struct msd_span){plain, told.n}, payload_bytes);
}

/* True if this fingerprint was seen recently; it is recorded otherwise. */
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

/* A free slot; MSD_MEMORY_BODIES if all are in use. */
static unsigned make_place(struct msd_memory *m)
{
	if (m->n_known < MSD_MEMORY_BODIES)
		return m->n_known++;
	for (unsigned i = 0; i < MSD_MEMORY_BODIES; i++) {
		unsigned at = m->next_known;
		m->next_known = (at + 1) % MSD_MEMORY_BODIES;
		if (m->known[at]->n_users == 0) {
			forget(m, m->known[at]);
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

static void move_parts(struct msd_body *b, const uint8_t *from, const uint8_t *to)
{
	b->method = move(b->method, from, to);
	b->params = move(b->params, from, to);
	b->options = move(b->options, from, to);
	b->error = move(b->error, from, to);
	b->result = move(b->result, from, to);
	b->meta = move(b->meta, from, to);
}

struct msd_known *msd_memory_add(struct msd_memory *m, struct msd_span bytes,
				 uint64_t payload_bytes, const struct msd_body *body)
{
	const struct msd_span told = told_apart(m, bytes);
	if (told.n == 0 || !may_be_added(m, bytes.p, body) ||
	    m->n_noted > MSD_MEMORY_PLACES)
		return NULL;
	uint64_t print = print_apart(m, bytes.p, told, payload_bytes);
	if (!was_seen(m, print))
		return NULL;
	const size_t n_before = (size_t)(told.p - bytes.p);
	const size_t n_behind = bytes.n - n_before;
	struct msd_known *k = malloc(sizeof(*k) + BEHIND_ID + n_behind);
	unsigned at = k != NULL ? make_place(m) : MSD_MEMORY_BODIES;
	if (at == MSD_MEMORY_BODIES) {
		free(k);
		return NULL;
	}
	*k = (struct msd_known){.body = *body,
				.payload_bytes = payload_bytes,
				.n_bytes = (uint32_t)(BEHIND_ID + n_behind),
				.n_places = (uint16_t)m->n_noted};
	for (unsigned i = 0; i < m->n_noted; i++)
		k->places[i] = (uint16_t)(m->noted[i] - n_before + BEHIND_ID);
	memcpy(k->bytes, bytes.p, ID_AT);
	k->bytes[ID_AT] = ID_IN_EIGHT_BYTES;
	msd_memory_set_id(k->bytes, body->id);
	memcpy(k->bytes + BEHIND_ID, told.p, n_behind);
	move_parts(&k->body, told.p, k->bytes + BEHIND_ID);
	weigh(m, weight(k));
	m->known[at] = k;
	m->prints[at] = print;
	return k;
}

void msd_memory_give(struct msd_memory *m, struct msd_known *known, void *plan,
		     size_t n)
{
	known->plan = plan;
	known->plan_bytes = n;
	weigh(m, (int64_t)n);
}

void msd_memory_drop(struct msd_memory *m, struct msd_known *known)
{
	for (unsigned i = 0; i < m->n_known; i++) {
		if (m->known[i] != known)
			continue;
		forget(m, known);
		m->n_known--;
		m->found = 0;
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
	const uint8_t *p = body + ID_AT;
	uint64_t id = *p;

	if (id == ID_IN_EIGHT_BYTES) {
		memcpy(&id, p + 1, sizeof(id));
		return be64toh(id);
	}
	return id < 0x80 ? id : msd_be(p + 1, (uint32_t)id_bytes(*p) - 1);
}

void msd_memory_set_id(uint8_t *body, uint64_t id)
{
	id = htobe64(id);
	memcpy(body + ID_AT + 1, &id, sizeof(id));
}

uint64_t msd_memory_time(struct msd_span body)
{
	uint64_t time;

	memcpy(&time, body.p + body.n - sizeof(time), sizeof(time));
	return be64toh(time);
}

void msd_memory_parts(const struct msd_known *known, const uint8_t *bytes,
		      struct msd_body *ret)
{
	*ret = known->body;
	ret->id = msd_memory_id(bytes);
	if (ret->kind == MSD_RESPONSE) /* the time differs */
		ret->meta.p = bytes + (ret->meta.p - known->bytes);
}
