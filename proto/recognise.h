#ifndef MSD_PROTO_RECOGNISE_H
#define MSD_PROTO_RECOGNISE_H
/*
 * Bodies that came before on a connection. One that equals a remembered one in every
 * byte but the id's, of which it may have more or fewer, before as large a payload, has
 * the same parts and needs no scan. Bodies are compared whole: a fingerprint only says
 * which. Of responses the time at their end may differ, too, where a worker writes it
 * in nine bytes: exec_ns. Where the owner says so, tensors in segments may be in
 * others, or elsewhere in them: places are to be looked at each time.
 *
 * Happy path: the connection asks msd_memory_find() for each body before it scans it.
 * What is not known is scanned by msd_memory_scan(); then its owner may have it
 * remembered, with
 * what there is to know about it beside its parts, by msd_memory_add(). That happens
 * when it comes for the second time, so that bodies that never come again cost a
 * fingerprint and push no other out.
 *
 * The memory belongs to whom the connection belongs to, and has a bound:
 * docs/bounds.md. Who counts its bytes is told of them.
 */
#include "proto/body.h"

#define MSD_MEMORY_BODIES 16u
#define MSD_MEMORY_BODY_BYTES 1024u
#define MSD_MEMORY_PLACES 16u /* a body with more tensors in segments is not kept */

struct msd_known {
	struct msd_body body; /* its parts lie in `bytes`; the id is the first one's */
	uint64_t payload_bytes; /* that followed */
	void *plan;             /* the owner's: one block of memory, or NULL */
	size_t plan_bytes;      /* of that */
	uint32_t n_users;       /* while there are any it stays */
	uint32_t n_bytes;
	uint16_t n_places;
	uint16_t places[MSD_MEMORY_PLACES]; /* in `bytes`: ext data of tensors whose
					       segments and offsets may differ */
	/* As they came, the id in nine bytes however it came, and places as they came
	 * last. */
	uint8_t bytes[];
};

/* All zeros: of requests, which nobody counts. */
struct msd_memory {
	enum msd_body_kind kind; /* requests or responses */
	bool has_places;         /* tensors in segments may be elsewhere each time */
	/** Optional: so many @bytes more are kept, or less. */
	void (*weigh)(void *ctx, int64_t bytes);
	void *ctx;                                  /* of that */
	struct msd_known *known[MSD_MEMORY_BODIES]; /* owned */
	uint64_t prints[MSD_MEMORY_BODIES];         /* fingerprints of those */
	uint64_t seen[MSD_MEMORY_BODIES];           /* and of what came once */
	unsigned n_known, n_seen;
	unsigned next_known, next_seen; /* to be replaced, in turn */
	unsigned found;                 /* last: calls repeat */
	/* Of what was scanned last: how many places it has, and the first of them. */
	uint32_t n_noted;
	uint16_t noted[MSD_MEMORY_PLACES];
};

/** The remembered one that @body in front of @payload_bytes is again, but for its id;
 * NULL: none. */
struct msd_known *msd_memory_find(struct msd_memory *m, struct msd_span body,
				  uint64_t payload_bytes);
/** Scan @bytes, which are not known, as msd_body_read_doubted() does, for
 * MSD_MAX_OBJECTS. */
MSD_MUST_CHECK msd_err msd_memory_scan(struct msd_memory *m, struct msd_span bytes,
				       struct msd_body *ret, struct msd_diag *d);
/**
 * Remember @bytes, which were scanned last, to @body, and are not known. NULL: not now,
 * because they came for the first time, are of another kind or too large for it, all
 * that is remembered is in use, or memory is short.
 */
struct msd_known *msd_memory_add(struct msd_memory *m, struct msd_span bytes,
				 uint64_t payload_bytes, const struct msd_body *body);
/** @known has the plan @plan, one block of @n bytes, from here on; it had none. */
void msd_memory_give(struct msd_memory *m, struct msd_known *known, void *plan,
		     size_t n);
/** Forget what was added last: its owner cannot use it. */
void msd_memory_drop(struct msd_memory *m, struct msd_known *known);
/** Forget all. */
void msd_memory_finish(struct msd_memory *m);
/** The id of a body that is known. */
uint64_t msd_memory_id(const uint8_t *body);
/** Another id in the place of one of nine bytes, as what is remembered has and answers
 * that are known. */
void msd_memory_set_id(uint8_t *body, uint64_t id);
/** The time at the end of a response that is known. */
uint64_t msd_memory_time(struct msd_span body);
/** The parts of @known, which came again as @bytes, and as no other since: its own,
 * which are the same, but for the id and the time of a response. */
void msd_memory_parts(const struct msd_known *known, const uint8_t *bytes,
		      struct msd_body *ret);

#endif
