#ifndef MSD_FETCH_OCI_MANIFEST_H
#define MSD_FETCH_OCI_MANIFEST_H
/*
 * A registry's manifest: of an index the one of its manifests that is for this
 * architecture, else where a module's own manifest and its signature are, else the one
 * layer that is a module. It is transport, and nothing in it is believed but digests,
 * which bytes are checked against.
 */
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

struct msd_oci_blob {
	struct msd_digest digest;
	uint64_t bytes;
};

struct msd_oci_manifest {
	bool is_index;     /* `blob` is a manifest, else the one layer */
	bool has_manifest; /* `blob` is the module's, whose files are other layers */
	bool has_signature;
	struct msd_oci_blob blob, signature;
	char title[MSD_OCI_TITLE]; /* of the layer; "": it has none */
};

/** @arch in Go's words ("amd64"). Errors: MSD_BAD_ARTIFACT (no manifest, no layer or
 * several), MSD_UNSUPPORTED (nothing for @arch; an image's archive). */
MSD_MUST_CHECK msd_err msd_oci_manifest_read(struct msd_span json, const char *arch,
					     struct msd_oci_manifest *ret,
					     struct msd_diag *d);
/** This machine's. Static. */
const char *msd_oci_arch(void);

#endif
