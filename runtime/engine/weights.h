#ifndef MSD_RUNTIME_ENGINE_WEIGHTS_H
#define MSD_RUNTIME_ENGINE_WEIGHTS_H
/*
 * Memory of packed weights. The workers of a module may share it: the first worker
 * packs while it loads, then writes its blocks to a file and seals it. The other
 * workers map that file and pack nothing. A process loads one model, so there is one
 * file. Blocks that are small, taken after the load, or not in the file, are private.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

struct msd_weights_file {
	int fd;         /* a memfd, borrowed until msd_weights_end(); -1: none */
	bool is_filled; /* another worker filled it, and it is sealed */
	uint64_t bytes; /* its size */
	/* Decides with the model which bytes are packed: a file of another key is not
	 * used. Borrowed as long. */
	struct msd_span key;
};

/* A block in a file. */
struct msd_weights_block {
	uint64_t mark; /* of its node and algorithm */
	uint64_t at, bytes;
};

/**
 * Read the index of @file, which has @key: *@ret_n blocks, each within the file. NULL:
 * the file is damaged, or has another key. The caller frees it.
 */
struct msd_weights_block *msd_weights_read(struct msd_span file, struct msd_span key,
					   size_t *ret_n);

/** Begin the load of a model. A file that cannot be used is ignored. */
void msd_weights_begin(const struct msd_weights_file *file);
/**
 * End the load: an empty file is filled and sealed. Returns the bytes of packed weights
 * that this process has in a file.
 */
uint64_t msd_weights_end(void);

/**
 * A block of @bytes for the weights of @node, packed by algorithm @how.
 * *@ret_is_packed: another worker packed them, and the block is read-only. NULL: memory
 * is short.
 */
void *msd_weights_take(const modser_sg_node *node, const char *how, size_t bytes,
		       bool *ret_is_packed);
void msd_weights_give(void *p, size_t bytes); /* NULL is fine */
/** True if other workers may map the block @p, too. */
bool msd_weights_are_shared(const void *p);

struct msd_weights_sums {
	uint64_t bytes;        /* of all blocks */
	uint64_t shared_bytes; /* the part that other workers may map */
};
struct msd_weights_sums msd_weights_sum(void);

#endif
