#ifndef MSD_PACK_PIECES_PRIVATE_H
#define MSD_PACK_PIECES_PRIVATE_H
/* One pair of functions per family of kinds, and their helpers. */
#include <jansson.h>

#include "artifact/gpu/device_blob.h"
#include "artifact/kind/fields.h"
#include "artifact/kind/kinds.h"

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

typedef msd_err msd_split_fn(struct msd_splitter *s, struct msd_cur *c,
			     struct msd_diag *d);
typedef msd_err msd_join_fn(const struct msd_joiner *j, struct msd_buf *out,
			    struct msd_diag *d);

struct msd_piece_format {
	const char *kind;
	const struct msd_kind_field *fields; /* or NULL: the two functions */
	msd_split_fn *split;
	msd_join_fn *join;
};

/** Split and join the fields in @fields one by one, each as a value or a file. */
MSD_MUST_CHECK msd_err msd_split_fields(struct msd_splitter *s,
					const struct msd_kind_field *fields,
					struct msd_cur *c, struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_join_fields(const struct msd_joiner *j,
				       const struct msd_kind_field *fields,
				       struct msd_buf *out, struct msd_diag *d);

/* A failed split leaves the payload in one file; only MSD_NOMEM is reported. */
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
/** The same with a buffer; takes ownership. */
MSD_MUST_CHECK msd_err msd_split_made(struct msd_splitter *s, const char *key,
				      const char *suffix, struct msd_buf *bytes,
				      struct msd_diag *d);
/** Set field @key to @value, taking ownership; NULL: memory is short. */
MSD_MUST_CHECK msd_err msd_split_set(struct msd_splitter *s, const char *key,
				     json_t *value, struct msd_diag *d);

/** u64 length and the text of field @key. */
MSD_MUST_CHECK msd_err msd_join_text(const struct msd_joiner *j, const char *key,
				     struct msd_buf *out, struct msd_diag *d);
/** vec<str> of the array @key; empty if absent. */
MSD_MUST_CHECK msd_err msd_join_names(const struct msd_joiner *j, const char *key,
				      struct msd_buf *out, struct msd_diag *d);
/** Read the file in field @key into @ret, which is empty. */
MSD_MUST_CHECK msd_err msd_join_read(const struct msd_joiner *j, const char *key,
				     struct msd_buf *ret, struct msd_diag *d);
/** u64 length and those bytes. */
MSD_MUST_CHECK msd_err msd_join_file(const struct msd_joiner *j, const char *key,
				     struct msd_buf *out, struct msd_diag *d);
/** vec<str> of a JSON array. */
MSD_MUST_CHECK msd_err msd_join_array(const json_t *names, const char *key,
				      struct msd_buf *out, struct msd_diag *d);

/* pieces_kernels.c: the table of a device module's kernels, field "functions", in
 * TVM's format. */
MSD_MUST_CHECK msd_err msd_split_kernels(struct msd_splitter *s,
					 const struct msd_kernel *kernels, size_t n,
					 struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_join_kernels(const struct msd_joiner *j, struct msd_buf *out,
					struct msd_diag *d);

/* msd_split_<name> and msd_join_<name>, for every PARTS of the table. */
#define FIELDS(name)
#define PARTS(name)                                                                    \
	msd_split_fn msd_split_##name;                                                 \
	msd_join_fn msd_join_##name;
#define WHOLE(name)
#define ROW(kind, title, format, look, params, run) format
MSD_KIND_MAP(ROW)
#undef FIELDS
#undef PARTS
#undef WHOLE
#undef ROW

#endif
