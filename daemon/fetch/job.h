#ifndef MSD_FETCH_JOB_H
#define MSD_FETCH_JOB_H
/*
 * One fetch.get: download a URI into a sealed memfd, or fail. The fetch channel
 * creates a job for each request, and frees it after it has reported its end. The
 * plan (steps.h) decides the order; transfer and registry code do the download.
 */
#include "daemon/fetch/pick.h"
#include "daemon/fetch/registry/oci.h"
#include "daemon/fetch/steps.h"
#include "daemon/fetch/transfer/network_options.h"
#include "daemon/fetch/transfer/transfer.h"
#include "daemon/loop/list.h"

struct msd_job;

struct msd_job_ops {
	/**
	 * The job has ended: with a sealed download buffer, with plan.is_had, or with
	 * @err and @d. The job is freed when this callback returns, or soon after.
	 */
	void (*on_ended)(struct msd_job *job, msd_err err, struct msd_diag *d);
};

struct msd_job_ask {
	const char *uri;  /* borrowed until begin returns, as are the other strings */
	const char *name; /* of the module; "" allows any name */
	bool has_digest;  /* the content must match it */
	struct msd_digest digest;
	bool of_manifest; /* the digest is of the manifest, not of a file */
	/* Editions that the requester already has: concatenated digests, and the ETag
	 * of one of them; borrowed. These are not downloaded again. */
	struct msd_span have;
	/* Manifest and signature of one of these editions; borrowed. */
	struct msd_span manifest, signature;
	const char *etag; /* NULL if absent */
	struct msd_digest etag_digest;
	uint64_t max_bytes;
	struct msd_download_buffer_room
		*room; /* memory limit of all jobs; borrowed while a job exists */
	int arriving;  /* directory for unfinished downloads; borrowed; -1 if none */
	struct msd_download_how how;      /* its `reach` is set by the job */
	struct msd_network_options reach; /* moved into the job at begin */
	struct msd_order order;           /* required signers; the name is set later */
	/* Borrowed while a job exists. */
	const struct msd_platform_machine *machine;
};

struct msd_job {
	struct msd_list
		link; /* entry in the owner's list; unlinked before the job is freed */
	struct msd_buf
		asked; /* set by the owner, freed with the job: the request's params */
	/* Read-only. */
	void *user;
	uint64_t id; /* set by the owner */
	struct msd_uri uri;
	struct msd_fetch_steps plan;
	struct msd_download_buffer landing; /* of the files */
	struct msd_digest digest; /* digest of the whole content, valid once sealed */
	/* Private. */
	const struct msd_job_ops *ops;
	struct msd_net *net;
	struct msd_download_buffer side; /* for the manifest or the signature */
	struct msd_transfer transfer;
	struct msd_oci oci;
	struct msd_pick
		pick; /* registry: chooses the layer, without a module's manifest */
	char version[2 * MSD_DIGEST_TEXT]; /* as an ETag: the registry's manifest and
					      the wanted file; "" if not picked */
	struct msd_download_how how;
	struct msd_network_options reach;
	struct msd_digest etag_digest;
	bool of_manifest;  /* the requested digest is of the manifest */
	char *text, *etag; /* owned; the URI, and the ETag of the request */
	bool has_layers;   /* registry: its manifest is known */
	bool is_settled;   /* needs no request to a server: msd_job_settle() ends it */
	bool is_told;
};

/**
 * Start a job. The job frees itself after on_ended. Errors: those of msd_uri_read(),
 * MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_job_begin(struct msd_net *net, struct msd_job_ask *ask,
				     const struct msd_job_ops *ops, void *user,
				     uint64_t id, struct msd_job **ret,
				     struct msd_diag *d);
/**
 * End a job that is_settled, after the owner has stored it. Calls on_ended before it
 * returns.
 */
void msd_job_settle(struct msd_job *job, struct msd_diag *d);
/** Cancel the job. on_ended is not called. The job removes itself from its list. */
void msd_job_cancel(struct msd_job *job);
/** True if the job failed only because the machine's devices are not known yet. */
bool msd_job_needs_devices(const struct msd_job *job);
/** Bytes received so far; @ret_total is 0 if the total is unknown. */
uint64_t msd_job_progress(const struct msd_job *job, uint64_t *ret_total);
/** The ETag for a later conditional request to the server; NULL if none. */
const char *msd_job_etag(const struct msd_job *job);
/** File name: the last segment of the path. */
const char *msd_job_file(const struct msd_job *job);

#endif
