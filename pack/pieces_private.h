#ifndef MSD_PACK_PIECES_PRIVATE_H
#define MSD_PACK_PIECES_PRIVATE_H
/* One pair of functions per family of kinds, and what they are made of. */
#include "artifact/gpu/device_blob.h"
#include "pack/pieces.h"

struct msd_splitter {
	enum msd_era era;
	const char *stem;
	json_t *entry;
	struct msd_pieces *files;
};

struct msd_joiner {
	enum msd_era era;
	const json_t *entry;
	const struct msd_piece_source *source;
};

/* A payload that is nothing but strings and lists of strings, one after the other. */
struct msd_piece_field {
	const char *key; /* of the manifest; NULL ends the list */
	enum { MSD_PIECE_TEXT, MSD_PIECE_NAMES, MSD_PIECE_FILE } form;
	const char *suffix; /* of the file */
};

typedef msd_err msd_split_fn(struct msd_splitter *s, struct msd_cur *c,
			     struct msd_diag *d);
typedef msd_err msd_join_fn(const struct msd_joiner *j, struct msd_buf *out,
			    struct msd_diag *d);

struct msd_piece_format {
	const char *kind;
	const struct msd_piece_field *fields; /* or NULL: the two functions */
	msd_split_fn *split;
	msd_join_fn *join;
};

/** What @fields say. */
MSD_MUST_CHECK msd_err msd_split_fields(struct msd_splitter *s,
					const struct msd_piece_field *fields,
					struct msd_cur *c, struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_join_fields(const struct msd_joiner *j,
				       const struct msd_piece_field *fields,
				       struct msd_buf *out, struct msd_diag *d);

/* Any failure of a split means that the payload stays one file; only MSD_NOMEM counts.
 */
msd_err msd_split_damaged(struct msd_diag *d);
/** Set field @key to text, which must be UTF-8. */
MSD_MUST_CHECK msd_err msd_split_text(struct msd_splitter *s, const char *key,
				      struct msd_span text, struct msd_diag *d);
/** Set field @key to vec<str> at @c. */
MSD_MUST_CHECK msd_err msd_split_names(struct msd_splitter *s, const char *key,
				       struct msd_cur *c, struct msd_diag *d);
/** A file @suffix, named in field @key. */
MSD_MUST_CHECK msd_err msd_split_file(struct msd_splitter *s, const char *key,
				      const char *suffix, struct msd_span bytes,
				      struct msd_diag *d);
/** The same with a buffer, which is taken. */
MSD_MUST_CHECK msd_err msd_split_made(struct msd_splitter *s, const char *key,
				      const char *suffix, struct msd_buf *bytes,
				      struct msd_diag *d);
/** Set field @key to @value, which is taken and may be NULL: memory is short. */
MSD_MUST_CHECK msd_err msd_split_set(struct msd_splitter *s, const char *key,
				     json_t *value, struct msd_diag *d);

/** u64 length and the text of field @key. */
MSD_MUST_CHECK msd_err msd_join_text(const struct msd_joiner *j, const char *key,
				     struct msd_buf *out, struct msd_diag *d);
/** vec<str> of the array @key; none is an empty one. */
MSD_MUST_CHECK msd_err msd_join_names(const struct msd_joiner *j, const char *key,
				      struct msd_buf *out, struct msd_diag *d);
/** The bytes of the file that field @key names, into @ret, which is empty. */
MSD_MUST_CHECK msd_err msd_join_read(const struct msd_joiner *j, const char *key,
				     struct msd_buf *ret, struct msd_diag *d);
/** u64 length and those bytes. */
MSD_MUST_CHECK msd_err msd_join_file(const struct msd_joiner *j, const char *key,
				     struct msd_buf *out, struct msd_diag *d);
/** vec<str> of a JSON array. */
MSD_MUST_CHECK msd_err msd_join_array(const json_t *names, const char *key,
				      struct msd_buf *out, struct msd_diag *d);

/* pieces_kernels.c: the table of a device module's kernels, field "functions". */
MSD_MUST_CHECK msd_err msd_split_kernels(struct msd_splitter *s,
					 const struct msd_kernel *kernels, size_t n,
					 struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_join_kernels(const struct msd_joiner *j, struct msd_buf *out,
					struct msd_diag *d);

/* pieces_device.c */
msd_split_fn msd_split_device;
msd_join_fn msd_join_device;

/* pieces_shaders.c */
msd_split_fn msd_split_metal;
msd_join_fn msd_join_metal;
msd_split_fn msd_split_vulkan;
msd_join_fn msd_join_vulkan;
msd_split_fn msd_split_webgpu;
msd_join_fn msd_join_webgpu;

/* pieces_model.c */
msd_split_fn msd_split_graph;
msd_join_fn msd_join_graph;
msd_split_fn msd_split_aot;
msd_join_fn msd_join_aot;
msd_split_fn msd_split_consts;
msd_join_fn msd_join_consts;
msd_split_fn msd_split_relax;
msd_join_fn msd_join_relax;

#endif
