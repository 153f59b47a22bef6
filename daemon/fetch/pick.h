#ifndef MSD_FETCH_PICK_H
#define MSD_FETCH_PICK_H
/*
 * Pick the model among the layers of a registry's manifest by their content. The owner
 * downloads each layer into its download buffer:
 *
 *   begin --> layer() --downloaded--> look() --thread--> on_looked --> layer() ...
 *                '--NULL--> end(): the buffer holds the model
 */
#include "daemon/fetch/layer/layer_look.h"
#include "daemon/fetch/registry/oci_manifest.h"
#include "daemon/fetch/transfer/download_buffer.h"
#include "daemon/loop/work.h"

struct msd_pick {
	/* Set by the owner, borrowed. */
	struct msd_download_buffer *landing;
	const char *wanted;              /* name of the file; "": any */
	const struct msd_digest *digest; /* of the file; NULL: any */
	/** Called on the loop. An error ends the pick. */
	void (*on_looked)(struct msd_pick *p, msd_err err, struct msd_diag *d);
	/* Read-only. */
	struct msd_layer_look look;
	/* Private. */
	const struct msd_oci_manifest *manifest; /* borrowed */
	uint32_t at;                             /* the current layer */
	bool by_digest, by_name; /* only the layer with the digest or the name counts */
	struct msd_download_buffer found;
	struct msd_work work;
	struct msd_layer layer;
	char name[MSD_OCI_TITLE];
	msd_err err;
	struct msd_diag d;
};

/** Begin with the layers of @m. The fields of the owner are set. */
void msd_pick_begin(struct msd_pick *p, const struct msd_oci_manifest *m);
/** The layer to download; NULL if none is left. */
const struct msd_oci_layer *msd_pick_layer(const struct msd_pick *p);
/** The layer is downloaded and checked: look into it on a thread. MSD_IO. */
MSD_MUST_CHECK msd_err msd_pick_look(struct msd_pick *p, uv_loop_t *loop,
				     struct msd_diag *d);
/**
 * All layers were looked at: put the model into the buffer. MSD_BAD_ARTIFACT,
 * MSD_NOT_FOUND.
 */
MSD_MUST_CHECK msd_err msd_pick_end(struct msd_pick *p, struct msd_diag *d);
/** Name of the picked file; "" if it has none. */
const char *msd_pick_file(const struct msd_pick *p);
/** Not while a thread looks. Zeroed is allowed. */
void msd_pick_finish(struct msd_pick *p);

#endif
