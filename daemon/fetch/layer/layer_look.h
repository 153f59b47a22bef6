#ifndef MSD_FETCH_LAYER_LOOK_H
#define MSD_FETCH_LAYER_LOOK_H
/*
 * Find the model among the layers of an artifact by their content. A layer is a model
 * itself, or an archive with one, or neither:
 *
 *   look(layer) for each layer in order --> found, with its name
 *
 * A file of a later layer replaces the file with the same path, as in a container
 * image.
 */
#include "daemon/fetch/layer/tar_reader.h"

#define MSD_FOUND_NAMES 16u /* listed in an error */

struct msd_layer {
	int fd; /* borrowed */
	uint64_t bytes;
	const char *name; /* borrowed; the title, or the digest */
};

struct msd_layer_look {
	/* Set by the owner. */
	const char *wanted;              /* the file; "": the only model. Borrowed */
	struct msd_download_buffer *out; /* an open buffer for a file of an archive */
	/* Read-only. */
	uint32_t n_found;
	uint32_t n_zstd; /* layers that are compressed by zstd, which are not read */
	bool is_whole;   /* the layer of the last look is the found model itself: `out`
			    has   nothing */
	char name[MSD_TAR_PATH]; /* the path of the found model */
	struct msd_buf names;    /* the found names, with commas; owned */
};

/**
 * True if @wanted is @path or its last parts: "a/b.onnx" and "b.onnx" for "x/a/b.onnx".
 */
bool msd_layer_is_wanted(const char *path, const char *wanted);
/**
 * Look into @layer. Errors: those of msd_tar_next(), and of the download buffer;
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_layer_look(struct msd_layer_look *l,
				      const struct msd_layer *layer,
				      struct msd_diag *d);
/** All layers were looked at: exactly one model must be found. MSD_BAD_ARTIFACT. */
MSD_MUST_CHECK msd_err msd_layer_look_end(const struct msd_layer_look *l,
					  struct msd_diag *d);
void msd_layer_look_finish(struct msd_layer_look *l);

#endif
