#ifndef MSD_FETCH_OCI_MANIFEST_H
#define MSD_FETCH_OCI_MANIFEST_H
/*
 * A registry's manifest: of an index the one of its manifests that is best for this
 * machine, else where a module's own manifest and its signature are, else the one
 * layer that is a module. It is transport, and nothing in it is believed but digests,
 * which bytes are checked against.
 */
#include "daemon/fetch/platform.h"
#include "proto/bytes.h"
#include "proto/diag.h"
#include "store/digest.h"

#define MSD_OCI_TITLE 256u
/* What is accepted of a registry. */
#define MSD_OCI_ACCEPT                                                                 \
	"Accept: application/vnd.oci.image.manifest.v1+json, "                         \
	"application/vnd.oci.image.index.v1+json, "                                    \
	"application/vnd.docker.distribution.manifest.v2+json, "                       \
	"application/vnd.docker.distribution.manifest.list.v2+json"

/* What the layers are that make a module of several files. */
#define MSD_OCI_MANIFEST_TYPE "application/vnd.modserd.manifest.v1+json"
#define MSD_OCI_SIGNATURE_TYPE "application/vnd.modserd.manifest.v1.minisig"

/* Annotations of what an index leads to: OCI has no words for them. */
#define MSD_OCI_DEVICE "modserd.device"
#define MSD_OCI_CAPABILITY "modserd.capability"

struct msd_oci_blob {
	struct msd_digest digest;
	uint64_t bytes;
};

struct msd_oci_manifest {
	bool is_index;     /* `blob` is a manifest, else the one layer */
	bool has_manifest; /* `blob` is the module's, whose files are other layers */
	bool has_signature;
	bool needs_devices; /* which of an index it is depends on those of the
			     * machine, and they are not known: it has no `blob` */
	struct msd_oci_blob blob, signature;
	char title[MSD_OCI_TITLE]; /* of the layer; "": it has none */
};

/** What is for @m. Errors: MSD_BAD_ARTIFACT (no manifest, no layer or several),
 * MSD_UNSUPPORTED (nothing for @m; an image's archive). */
MSD_MUST_CHECK msd_err msd_oci_manifest_read(struct msd_span json,
					     const struct msd_platform_machine *m,
					     struct msd_oci_manifest *ret,
					     struct msd_diag *d);

#endif
