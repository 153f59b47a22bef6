#ifndef MSD_PACK_MANIFEST_H
#define MSD_PACK_MANIFEST_H
/* An import tree as a directory of files with a manifest.json: written by `modser
 * unpack`, or by a user who packs a library from parts. Its format:
 * docs/how-to/pack.md. */
#include "artifact/tree/tree.h"
#include "pack/pieces.h"

#define MSD_MANIFEST_NAME "manifest.json"

struct msd_manifest {
	enum msd_era era;
	struct msd_tree tree; /* numbered for writing */
	const char *library;  /* file with the tree, or NULL */
	const char *prefix;   /* symbol prefix of a system library; "" if absent */
	bool is_system_library;
	const char **objects; /* files to link: objects, archives, sources; owned */
	size_t n_objects;
	/* Storage of the pointers above. */
	json_t *json;
	struct msd_buf *payloads;
	struct msd_tree given;
};

/**
 * Unpack @tree into @ret, which is empty: all files and their manifest. @library is
 * the name of the library's copy in the same directory, or NULL. Files borrow from
 * @tree. The caller finishes @ret in any case. Errors: MSD_UNSUPPORTED: a kind that
 * is not UTF-8; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_manifest_write(const struct msd_tree *tree, enum msd_era era,
					  const char *library, struct msd_pieces *ret,
					  struct msd_diag *d);
/**
 * Read a manifest and the files that it names. The caller owns *@ret (finish it),
 * which borrows nothing. Errors: MSD_BAD_ARTIFACT: JSON or a field is invalid, the
 * text names it; those of msd_payload_join() and msd_tree_order().
 */
MSD_MUST_CHECK msd_err msd_manifest_read(struct msd_span text,
					 const struct msd_piece_source *source,
					 struct msd_manifest *ret, struct msd_diag *d);
void msd_manifest_finish(struct msd_manifest *m); /* NULL and zeroed are allowed */

#endif
