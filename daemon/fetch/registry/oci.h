#ifndef MSD_FETCH_OCI_H
#define MSD_FETCH_OCI_H
/*
 * Download a module from a registry (OCI distribution 1.0).
 *
 *   manifest --index--> the manifest for this machine
 *      |  ^--401-- token
 *      '--> blob --401--> token --> the rest of the blob
 *             ^--on_next chooses, until no blob is wanted--'--> (done)
 */
#include "daemon/fetch/registry/oci_manifest.h"
#include "daemon/fetch/registry/oci_name.h"
#include "daemon/fetch/transfer/download.h"
#include "daemon/fetch/transfer/text.h"

struct msd_oci_step;

struct msd_oci {
	/* Set by the owner. */
	struct msd_net *net;
	struct msd_download_how how;
	bool is_listed; /* the requester may use this repository of the registry */
	const struct msd_platform_machine *machine; /* borrowed */
	/**
	 * The manifest is known, or the wanted blob is complete. The owner requests
	 * another blob with msd_oci_want(), or none to finish, or calls
	 * msd_oci_pause(). An error ends the download.
	 */
	msd_err (*on_next)(struct msd_oci *o, struct msd_diag *d);
	/** Called once. The owner may free @o here. */
	void (*on_done)(struct msd_oci *o, msd_err err, struct msd_diag *d);
	/* Read-only. */
	struct msd_oci_manifest manifest; /* valid once known */
	bool has_first;
	struct msd_digest first; /* digest of the manifest that the reference names */
	bool needs_devices; /* failed because the machine's devices are not known yet */
	struct msd_oci_name name;
	/* Private. */
	struct msd_text text;  /* a manifest, or a token */
	struct msd_sink *sink; /* for the wanted blob; NULL if none */
	struct msd_digest blob;
	char *basic;         /* owned; user name and password, NULL if none */
	char *authorization; /* owned; NULL if the registry has not asked for it */
	struct msd_oci_step *step;
	unsigned n_manifests;
	uint64_t token_bytes; /* size of the sink when the last token arrived */
	bool is_token_fresh;  /* no data has been received with it yet */
	bool is_paused;
};

/**
 * Start. On failure nothing was started. MSD_BAD_REQUEST, MSD_NOMEM, those of
 * msd_network_options_header().
 */
MSD_MUST_CHECK msd_err msd_oci_begin(struct msd_oci *o, const struct msd_uri *uri,
				     struct msd_diag *d);
/**
 * Request the blob of @digest next, into @sink. The sink is never restarted; its
 * owner checks the digest. Call only from on_next, or before msd_oci_resume().
 */
void msd_oci_want(struct msd_oci *o, const struct msd_digest *digest,
		  struct msd_sink *sink);
/** The owner needs time to choose: on_next is over, msd_oci_resume() continues. */
void msd_oci_pause(struct msd_oci *o);
/**
 * Continue after a pause, as if on_next returned @err now. May call on_done. Call
 * from the loop, not from on_next.
 */
void msd_oci_resume(struct msd_oci *o, msd_err err, struct msd_diag *d);
/** Stop in any state: on_done is not called, and @o may be freed. Idempotent. */
void msd_oci_close(struct msd_oci *o);

#endif
