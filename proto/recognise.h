#ifndef MSD_PROTO_RECOGNISE_H
#define MSD_PROTO_RECOGNISE_H
/*
 * Body cache of a connection. A body that equals a cached one in every byte except
 * the id has the same parts and needs no scan. The id may have another length; the
 * payload size must be equal. Bodies are compared in full; a fingerprint only selects
 * the candidate. In responses the time at the end (exec_ns, nine bytes from a worker)
 * may differ, too. If the owner allows it, tensors in segments may have other
 * segments or offsets; the owner must check these places each time.
 *
 * Happy path: the connection calls msd_memory_find() for each body before the scan.
 * An unknown body is scanned by msd_memory_scan(). Then the owner may cache it with
 * msd_memory_add(), together with a call template of its own. Only the second
 * occurrence is cached: a body that never repeats costs one fingerprint and evicts
 * nothing.
 *
 * The cache belongs to the owner of the connection and has a bound:
 * docs/internals/bounds.md. The `weigh` callback reports its bytes.
 */
#include "proto/body.h"

#define MSD_MEMORY_BODIES 16u
#define MSD_MEMORY_BODY_BYTES 1024u
#define MSD_MEMORY_PLACES 16u /* a body with more tensors in segments is not cached */

struct msd_known {
	struct msd_body
		body; /* parts point into `bytes`; the id is that of the first body */
	uint64_t payload_bytes; /* payload after the body */
	void *plan;             /* set by the owner: one block of memory, or NULL */
	size_t plan_bytes;      /* size of `plan` */
	uint32_t n_users;       /* not evicted while in use */
	uint32_t n_bytes;
	uint16_t n_places;
	uint16_t places[MSD_MEMORY_PLACES]; /* offsets in `bytes`: ext data of tensors
					       whose segment and offset may differ */
	/* As received, but the id always has nine bytes, and the places are those of
	 * the last body. */
	uint8_t bytes[];
};

/* All zeros: caches requests, without accounting. */
struct msd_memory {
	enum msd_body_kind kind; /* requests or responses */
	bool has_places;         /* tensors in segments may change their place */
	/** Optional: reports that @bytes more are in use (negative: fewer). */
	void (*weigh)(void *ctx, int64_t bytes);
	void *ctx;                                  /* argument of weigh */
	struct msd_known *known[MSD_MEMORY_BODIES]; /* owned */
	uint64_t prints[MSD_MEMORY_BODIES];         /* fingerprints of known[] */
	uint64_t seen[MSD_MEMORY_BODIES]; /* fingerprints of bodies seen once */
	unsigned n_known, n_seen;
	unsigned next_known, next_seen; /* next slot to replace, round robin */
	unsigned found;                 /* last hit: calls repeat */
	/* From the last scan: the number of places, and the first of them. */
	uint32_t n_noted;
	uint16_t noted[MSD_MEMORY_PLACES];
};

/**
 * The cached body that equals @body with @payload_bytes, except for the id; NULL if
 * none.
 */
struct msd_known *msd_memory_find(struct msd_memory *m, struct msd_span body,
				  uint64_t payload_bytes);
/**
 * Scan @bytes, which are not cached, as msd_body_read_doubted() does with
 * MSD_MAX_OBJECTS.
 */
MSD_MUST_CHECK msd_err msd_memory_scan(struct msd_memory *m, struct msd_span bytes,
				       struct msd_body *ret, struct msd_diag *d);
/**
 * Cache @bytes as @body. They must be the result of the last scan and not cached.
 * NULL if not cached now: first occurrence, another kind, too large, all entries in
 * use, or memory short.
 */
struct msd_known *msd_memory_add(struct msd_memory *m, struct msd_span bytes,
				 uint64_t payload_bytes, const struct msd_body *body);
/**
 * Attach @plan, one block of @n bytes, to @known, which must have none. Takes
 * ownership.
 */
void msd_memory_give(struct msd_memory *m, struct msd_known *known, void *plan,
		     size_t n);
/** Remove the entry that was added last: its owner cannot use it. */
void msd_memory_drop(struct msd_memory *m, struct msd_known *known);
/** Remove all entries. */
void msd_memory_finish(struct msd_memory *m);
/** The id of a cached body. */
uint64_t msd_memory_id(const uint8_t *body);
/** Overwrite an id of nine bytes, as in cache entries and cached responses. */
void msd_memory_set_id(uint8_t *body, uint64_t id);
/** The time at the end of a cached response. */
uint64_t msd_memory_time(struct msd_span body);
/**
 * The parts of @known, whose last match was @bytes. They are those of the entry,
 * except for the id and the time of a response.
 */
void msd_memory_parts(const struct msd_known *known, const uint8_t *bytes,
		      struct msd_body *ret);

#endif
