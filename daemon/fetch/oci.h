#ifndef MSD_FETCH_OCI_H
#define MSD_FETCH_OCI_H
/*
 * A module out of a registry (OCI distribution 1.0).
 *
 *   manifest --index--> the manifest for this machine
 *      |  ^--401-- token
 *      '--> blob --401--> token --> the rest of the blob
 *             ^--on_next says which, until none is wanted--'--> (done)
 */
#include "daemon/fetch/download.h"
#include "daemon/fetch/oci_manifest.h"
#include "daemon/fetch/oci_name.h"
#include "daemon/fetch/text.h"

struct msd_oci_step;

struct msd_oci {
	/* The owner's. */
	struct msd_net *net;
	struct msd_download_how how;
	bool is_listed; /* the asker may have the registry asked for the repository */
	const struct msd_platform_machine *machine; /* borrowed */
	/** The manifest is known, or the blob has come that was wanted: the owner wants
	 * another by msd_oci_want(), or none. An error ends it all. */
	msd_err (*on_next)(struct msd_oci *o, struct msd_diag *d);
	/** Once. The owner may free it here. */
	void (*on_done)(struct msd_oci *o, msd_err err, struct msd_diag *d);
	/* Read-only. */
	struct msd_oci_manifest manifest; /* once it is known */
	bool has_first;
	struct msd_digest first; /* of the manifest that the reference led to */
	bool needs_devices;      /* it failed, as those of the machine are not known */
	struct msd_oci_name name;
	/* Its own. */
	struct msd_text text;  /* a manifest, or a token */
	struct msd_sink *sink; /* of the blob that is wanted; NULL: none is */
	struct msd_digest blob;
	char *basic;         /* owned; name and password, NULL: there are none */
	char *authorization; /* owned; NULL: nobody asked */
	struct msd_oci_step *step;
	unsigned n_manifests;
	uint64_t token_bytes; /* of the sink, when the last token came */
	bool is_token_fresh;  /* nothing has come by it yet */
};

/** Begin. On failure nothing was begun. MSD_BAD_REQUEST, MSD_NOMEM, those of
 * msd_reach_header(). */
MSD_MUST_CHECK msd_err msd_oci_begin(struct msd_oci *o, const struct msd_uri *uri,
				     struct msd_diag *d);
/** Want the blob of @digest next, into @sink, which is restarted by nobody and checked
 * by its owner. For on_next alone. */
void msd_oci_want(struct msd_oci *o, const struct msd_digest *digest,
		  struct msd_sink *sink);
/** End it in any state: on_done comes no more, and it may be freed. Idempotent. */
void msd_oci_close(struct msd_oci *o);

#endif
