#ifndef MSD_FETCH_OCI_MANIFEST_H
#define MSD_FETCH_OCI_MANIFEST_H
/*
 * Parse a registry's manifest. For an index, choose the manifest that fits this
 * machine best. Otherwise find the layers of a module's own manifest and signature,
 * or the one layer that is a module. Only its digests are used, and the bytes are
 * checked against them.
 */
#include "daemon/fetch/registry/platform.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "store/digest.h"

#define MSD_OCI_TITLE 256u
#define MSD_OCI_LAYERS 256u /* of one manifest */
/* Accepted media types. */
#define MSD_OCI_ACCEPT                                                                 \
	"Accept: application/vnd.oci.image.manifest.v1+json, "                         \
	"application/vnd.oci.image.index.v1+json, "                                    \
	"application/vnd.docker.distribution.manifest.v2+json, "                       \
	"application/vnd.docker.distribution.manifest.list.v2+json"

/* Media types of the layers of a multi-file module. */
#define MSD_OCI_MANIFEST_TYPE "application/vnd.modserd.manifest.v1+json"
#define MSD_OCI_SIGNATURE_TYPE "application/vnd.modserd.manifest.v1.minisig"

/* Annotations of an index entry: OCI defines no fields for them. */
#define MSD_OCI_DEVICE "modserd.device"
#define MSD_OCI_CAPABILITY "modserd.capability"

struct msd_oci_blob {
	struct msd_digest digest;
	uint64_t bytes;
};

struct msd_oci_layer {
	struct msd_oci_blob blob;
	char title[MSD_OCI_TITLE]; /* "" if absent */
	bool may_be_archive;       /* its media type says so; it may be none */
};

struct msd_oci_manifest {
	bool is_index;     /* `blob` is a manifest */
	bool has_manifest; /* `blob` is the module's manifest; its files are other
			      layers */
	bool has_signature;
	bool needs_devices; /* the choice in the index depends on the machine's devices,
			       which are unknown: no `blob` */
	struct msd_oci_blob blob, signature;
	/* Without a module's manifest: all layers that are not empty; owned. */
	struct msd_oci_layer *layers;
	uint32_t n_layers;
};

/**
 * Parse and choose for @m; the caller finishes *@ret after success. Errors:
 * MSD_BAD_ARTIFACT (not a manifest, no layer, or too many), MSD_UNSUPPORTED (nothing
 * for @m), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_oci_manifest_read(struct msd_span json,
					     const struct msd_platform_machine *m,
					     struct msd_oci_manifest *ret,
					     struct msd_diag *d);
void msd_oci_manifest_finish(struct msd_oci_manifest *m); /* zeroed is allowed */

#endif
