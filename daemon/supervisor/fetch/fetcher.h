#ifndef MSD_SUPERVISOR_FETCHER_H
#define MSD_SUPERVISOR_FETCHER_H
/*
 * What is fetched from elsewhere, by a process of its own (daemon/fetch/CHANNEL.md): it
 * is started for the first fetch and ended after the last one. It talks to strangers;
 * what it dies of is a failed fetch and no more.
 *
 * All calls on the loop's thread.
 */
#include "daemon/supervisor/fetch/terms.h"
#include "daemon/supervisor/fetch/vouch.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/wire/list.h"

#define MSD_FETCH_ETAG 128u /* with its end; a longer one is none */

struct msd_fetch_process;
struct msd_limits;
struct msd_reaper;
struct msd_unpack;
struct msd_wire;

/* What is fetched; embedded by who wants it. */
struct msd_fetch {
	/* The owner's, until it is done. */
	const char *uri;
	const char *name; /* the module's: what is signed must be of it */
	/* Of its module's section, until it has begun; NULL: what counts for all. */
	const struct msd_fetch_terms *terms;
	struct msd_peer_id who; /* whose it is; nobody: the daemon's own */
	bool is_bounded; /* its asker is not the operator: terms.pull_from counts */
	bool has_digest; /* nothing else is taken */
	struct msd_digest digest;
	bool of_manifest; /* the digest is known to be a manifest's, not a file's */
	/* What is there already: of these nothing is brought, and on_done's source has
	 * a hash and no file. */
	const struct msd_digest *have;
	uint32_t n_have;
	/* The manifest of one of these and its signature: where they may be believed
	 * still, and are what is asked for, nobody is asked. Empty: it has none. */
	struct msd_span manifest, signature;
	/* The ETag that a web server gave the last time, and of what; "": none. */
	char etag[MSD_FETCH_ETAG];
	struct msd_digest etag_digest;
	/** Every moment while it goes on; @total is 0 when nobody knows. May cancel it.
	 */
	void (*on_progress)(struct msd_fetch *f, uint64_t bytes, uint64_t total);
	/** Once: @source, which is taken, and what @file its bytes were called there;
	 * or @d says why not. */
	void (*on_done)(struct msd_fetch *f, struct msd_source *source,
			struct msd_span file, struct msd_diag *d);
	/* The fetcher's. */
	const struct msd_fetched *got; /* what else came, while on_done runs */
	struct msd_list link;
	uint64_t id;
};

struct msd_fetcher {
	/* The server's. */
	char *path; /* of modserd-fetch; NULL: it is not there */
	struct msd_reaper *reaper;
	struct msd_wire *wire;
	const struct msd_limits *limits;
	struct msd_unpack *unpack; /* of what is read right now */
	struct msd_vouch vouch;
	/* For all, but for the policy, which is the vouch's; its strings are the
	 * options'. */
	struct msd_fetch_terms terms;
	/** What devices the machine has, msgpack; NULL: somebody looks, and calls
	 * msd_fetcher_devices_known(). */
	const struct msd_buf *(*devices)(struct msd_fetcher *fetcher);
	/** A process is gone. */
	void (*on_gone)(struct msd_fetcher *fetcher);
	/* Its own. */
	struct msd_fetch_process *process; /* NULL: none takes requests */
	struct msd_list fetches;           /* msd_fetch.link */
	uint32_t n_fetches, n_processes;
	bool wants_devices;  /* the process does, and waits */
	uint64_t devices_id; /* of its request */
	uint64_t last_id;
};

/** No fetch and no process yet; what is not private is filled in already. */
void msd_fetcher_init(struct msd_fetcher *fetcher);
/** Begin @f; on_done comes on a later turn. On failure nothing was begun. Errors:
 * MSD_UNSUPPORTED (there is no modserd-fetch), MSD_BUSY (limits.max_pulls), MSD_IO,
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_fetcher_begin(struct msd_fetcher *fetcher,
					 struct msd_fetch *f, struct msd_diag *d);
/** Whether @who may begin one more: half of limits.max_pulls at most, or of what others
 * leave; nobody, all. Errors: MSD_BUSY. */
MSD_MUST_CHECK msd_err msd_fetcher_has_place(const struct msd_fetcher *fetcher,
					     struct msd_peer_id who,
					     struct msd_diag *d);
/** Whether only what a trusted key has signed is taken for @f. */
bool msd_fetcher_wants_signature(const struct msd_fetcher *fetcher,
				 const struct msd_fetch *f);
/** Nobody wants @f any more: on_done does not come. */
void msd_fetcher_cancel(struct msd_fetcher *fetcher, struct msd_fetch *f);
/** The devices are known by now, which the process may wait for. */
void msd_fetcher_devices_known(struct msd_fetcher *fetcher);
/** All are done with MSD_DRAINING, and the process ends. */
void msd_fetcher_drain(struct msd_fetcher *fetcher);

#endif
