#ifndef MSD_ARTIFACT_PIECES_PRIVATE_H
#define MSD_ARTIFACT_PIECES_PRIVATE_H
/* One pair of functions per family of kinds, and what they are made of. */
#include "runtime/artifact/pieces.h"

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

struct msd_piece_format {
	const char *kind;
	msd_err (*split)(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d);
	msd_err (*join)(const struct msd_joiner *j, struct msd_buf *out,
			struct msd_diag *d);
};

/* Any failure of a split means that the payload stays one file; only MSD_NOMEM counts.
 */
msd_err msd_split_no_memory(struct msd_diag *d);
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

/* pieces_device.c */
msd_err msd_split_device(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d);
msd_err msd_join_device(const struct msd_joiner *j, struct msd_buf *out,
			struct msd_diag *d);

/* pieces_model.c */
msd_err msd_split_graph(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d);
msd_err msd_join_graph(const struct msd_joiner *j, struct msd_buf *out,
		       struct msd_diag *d);
msd_err msd_split_aot(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d);
msd_err msd_join_aot(const struct msd_joiner *j, struct msd_buf *out,
		     struct msd_diag *d);
msd_err msd_split_consts(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d);
msd_err msd_join_consts(const struct msd_joiner *j, struct msd_buf *out,
			struct msd_diag *d);
msd_err msd_split_relax(struct msd_splitter *s, struct msd_cur *c, struct msd_diag *d);
msd_err msd_join_relax(const struct msd_joiner *j, struct msd_buf *out,
		       struct msd_diag *d);
msd_err msd_split_relay_vm(struct msd_splitter *s, struct msd_cur *c,
			   struct msd_diag *d);
msd_err msd_join_relay_vm(const struct msd_joiner *j, struct msd_buf *out,
			  struct msd_diag *d);
msd_err msd_split_json_runtime(struct msd_splitter *s, struct msd_cur *c,
			       struct msd_diag *d);
msd_err msd_join_json_runtime(const struct msd_joiner *j, struct msd_buf *out,
			      struct msd_diag *d);

#endif
