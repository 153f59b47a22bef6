#ifndef MSD_FETCH_JOB_H
#define MSD_FETCH_JOB_H
/*
 * One fetch.get: a URI becomes a sealed memfd, or an error. Made by its desk when it is
 * asked for; told to it when it has ended, then freed. What comes after what is its
 * plan's (plan.h); how it comes, its transfer's or its registry's.
 */
#include "daemon/fetch/oci.h"
#include "daemon/fetch/plan.h"
#include "daemon/fetch/reach.h"
#include "daemon/fetch/transfer.h"
#include "daemon/wire/list.h"

struct msd_job;

struct msd_job_ops {
	/** It has ended: with a sealed landing, with plan.is_had, or with @err and @d.
	 * It is freed when this returns, or soon after. */
	void (*on_ended)(struct msd_job *job, msd_err err, struct msd_diag *d);
};

struct msd_job_ask {
	const char *uri;  /* borrowed, until begin returns, as are the others */
	const char *name; /* of the module; "": of any */
	bool has_digest;  /* what comes must hash to it */
	struct msd_digest digest;
	bool of_manifest; /* which is a manifest's, not a file's */
	/* What is there already, digests in a row, and the ETag that one had; borrowed.
	 * Of these nothing is brought. */
	struct msd_span have;
	/* The manifest of one of these, and its signature; borrowed. */
	struct msd_span manifest, signature;
	const char *etag; /* NULL: none */
	struct msd_digest etag_digest;
	uint64_t max_bytes;
	struct msd_landing_room
		*room; /* of all jobs; borrowed as long as there are any */
	int arriving;  /* the folder for what is broken off; borrowed; -1: none */
	struct msd_download_how how; /* its reach is the job's */
	struct msd_reach reach;      /* taken where a job is made */
	struct msd_order order;      /* who must vouch for it; without its name */
	/* Borrowed as long as there are jobs. */
	const struct msd_platform_machine *machine;
};

struct msd_job {
	struct msd_list link; /* of the owner's; it is in none when it is freed */
	struct msd_buf asked; /* the owner's, freed with the job: what it was made of */
	/* Read-only. */
	void *user;
	uint64_t id; /* the owner's */
	struct msd_uri uri;
	struct msd_plan plan;
	struct msd_landing landing; /* of the files */
	struct msd_digest digest;   /* of all that is in it, when it is sealed */
	/* Its own. */
	const struct msd_job_ops *ops;
	struct msd_net *net;
	struct msd_landing side; /* of the manifest, or the signature */
	struct msd_transfer transfer;
	struct msd_oci oci;
	struct msd_download_how how;
	struct msd_reach reach;
	struct msd_digest etag_digest;
	bool of_manifest;  /* so it was asked for */
	char *text, *etag; /* owned; the URI, and what was asked with */
	bool has_layers;   /* of a registry: its manifest is known */
	bool is_settled;   /* nobody is asked: msd_job_settle() ends it */
	bool is_told;
};

/** Begin. It frees itself after on_ended. Errors: those of msd_uri_read(), MSD_IO,
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_job_begin(struct msd_net *net, struct msd_job_ask *ask,
				     const struct msd_job_ops *ops, void *user,
				     uint64_t id, struct msd_job **ret,
				     struct msd_diag *d);
/** End a job that is_settled, once its owner has it: on_ended comes within. */
void msd_job_settle(struct msd_job *job, struct msd_diag *d);
/** Nobody wants it: on_ended comes no more. It takes itself out of its list. */
void msd_job_cancel(struct msd_job *job);
/** It has failed, and may not when it is begun again with the machine's devices. */
bool msd_job_needs_devices(const struct msd_job *job);
/** How far it is; @ret_total is 0 when nobody knows. */
uint64_t msd_job_progress(const struct msd_job *job, uint64_t *ret_total);
/** The ETag under which a web server may be asked whether it has another by now; NULL:
 * none. */
const char *msd_job_etag(const struct msd_job *job);
/** What its file is called: the end of its path. */
const char *msd_job_file(const struct msd_job *job);

#endif
