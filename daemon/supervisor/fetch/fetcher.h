#ifndef MSD_SUPERVISOR_FETCHER_H
#define MSD_SUPERVISOR_FETCHER_H
/*
 * Downloads by a separate process (daemon/fetch/CHANNEL.md), which starts for the
 * first fetch and exits after the last one. It talks to untrusted servers; a crash
 * only fails its fetches.
 *
 * Call all functions on the loop's thread.
 */
#include "daemon/loop/list.h"
#include "daemon/supervisor/fetch/fetch_options.h"
#include "daemon/supervisor/fetch/trust_check.h"
#include "daemon/supervisor/request/peer_id.h"

#define MSD_FETCH_ETAG 128u /* with its NUL; a longer ETag is ignored */

struct msd_fetch_process;
struct msd_limits;
struct msd_reaper;
struct msd_unpack;
struct msd_wire;

/* One fetch; embedded by the caller. */
struct msd_fetch {
	/* Set by the owner, valid until the fetch is done. */
	const char *uri;
	const char *name; /* of the module: a signature must be for this name */
	/* Options of the module's section, valid until the fetch has begun; NULL: use
	 * the defaults. */
	const struct msd_fetch_options *terms;
	struct msd_peer_id who; /* peer that it is counted for; empty: the daemon */
	bool is_bounded; /* the client is not the operator: terms.pull_from applies */
	bool has_digest; /* accept nothing else */
	struct msd_digest digest;
	bool of_manifest; /* the digest is known to be a manifest's, not a file's */
	/* Digests that the caller already has: their bytes are not transferred, and
	 * on_done gets a source with a hash and no file. */
	const struct msd_digest *have;
	uint32_t n_have;
	/*
	 * The manifest of one of the digests in @have, and its signature. If they are
	 * still trusted and match the request, no server is asked. Empty: not
	 * available.
	 */
	struct msd_span manifest, signature;
	/* The last ETag of the web server, and the digest that it belongs to; "": no
	 * ETag. */
	char etag[MSD_FETCH_ETAG];
	struct msd_digest etag_digest;
	/** Called periodically; @total is 0 if unknown. May cancel the fetch. */
	void (*on_progress)(struct msd_fetch *f, uint64_t bytes, uint64_t total);
	/**
	 * Called once: with @source, which is taken, and its file name @file on the
	 * server, or with the error @d.
	 */
	void (*on_done)(struct msd_fetch *f, struct msd_source *source,
			struct msd_span file, struct msd_diag *d);
	/* Private to the fetcher. */
	const struct msd_fetched *got; /* rest of the result, while on_done runs */
	struct msd_list link;
	uint64_t id;
};

struct msd_fetcher {
	/* Set by the server. */
	char *path; /* of modserd-fetch; NULL: not installed */
	struct msd_reaper *reaper;
	struct msd_wire *wire;
	const struct msd_limits *limits;
	struct msd_unpack *unpack; /* objects of the message being read */
	struct msd_trust_check vouch;
	/* Defaults for all fetches, except the policy, which is in `vouch`; strings
	 * are borrowed from the options. */
	struct msd_fetch_options terms;
	/**
	 * The devices of the machine, msgpack; NULL: the search is running, and calls
	 * msd_fetcher_devices_known() at its end.
	 */
	const struct msd_buf *(*devices)(struct msd_fetcher *fetcher);
	/** A process is gone. */
	void (*on_gone)(struct msd_fetcher *fetcher);
	/* Private. */
	struct msd_fetch_process *process; /* NULL: no process accepts requests */
	struct msd_list fetches;           /* msd_fetch.link */
	uint32_t n_fetches, n_processes;
	bool wants_devices;  /* the process waits for the device list */
	uint64_t devices_id; /* id of its request */
	uint64_t last_id;
};

/**
 * Initialize without fetches and processes; the fields that are not private must be
 * set.
 */
void msd_fetcher_init(struct msd_fetcher *fetcher);
/**
 * Begin @f; on_done is called in a later loop iteration. After an error nothing has
 * begun. Errors: MSD_UNSUPPORTED (modserd-fetch is not installed), MSD_BUSY
 * (limits.max_pulls), MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_fetcher_begin(struct msd_fetcher *fetcher,
					 struct msd_fetch *f, struct msd_diag *d);
/**
 * Check that @who may begin another fetch: at most half of limits.max_pulls, or of
 * the rest that other peers leave. The daemon itself may use all. Errors: MSD_BUSY.
 */
MSD_MUST_CHECK msd_err msd_fetcher_has_place(const struct msd_fetcher *fetcher,
					     struct msd_peer_id who,
					     struct msd_diag *d);
/** True if @f accepts only content that a trusted key has signed. */
bool msd_fetcher_wants_signature(const struct msd_fetcher *fetcher,
				 const struct msd_fetch *f);
/** Cancel @f: on_done is not called. */
void msd_fetcher_cancel(struct msd_fetcher *fetcher, struct msd_fetch *f);
/** The devices are known now; the process may be waiting for them. */
void msd_fetcher_devices_known(struct msd_fetcher *fetcher);
/** End all fetches with MSD_DRAINING, and retire the process. */
void msd_fetcher_drain(struct msd_fetcher *fetcher);

#endif
