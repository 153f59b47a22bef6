#ifndef MSD_TESTS_BLOB_WRITER_H
#define MSD_TESTS_BLOB_WRITER_H
/* Containers of every layout, written from the format documents. */
#include "artifact/elf/era.h"
#include "tests/artifact/byte_writer.h"

struct blob_entry {
	const char *kind;
	struct bw payload; /* "_lib": none */
	uint64_t imports[4];
	size_t n_imports;
};

/** Size prefix, count, entries, and _import_tree when @has_tree: 0.6 to 0.21. */
void blob_inline(struct bw *b, const struct blob_entry *entries, size_t n,
		 bool has_tree);
/** Size prefix, rows, modules with framed payloads: 0.22 and later. */
void blob_framed(struct bw *b, const struct blob_entry *entries, size_t n);

/* A well-formed blob and what is in it. */
struct golden_blob {
	const char *name; /* of the layout: "06", "07_two_libs", ... */
	enum msd_era era;
	uint32_t n_modules;
	struct bw bytes;
};

/** All of them; free with golden_blobs_free(). */
struct golden_blob *golden_blobs(size_t *ret_n);
void golden_blobs_free(struct golden_blob *blobs, size_t n);

#endif
