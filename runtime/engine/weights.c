/*
 * A file has a head, the key, the index, and blocks at page boundaries.
 *
 * Happy path of the first worker: each block is a mapping of its own while the model
 * loads. At the end it is written to the file, and the file's pages replace its pages
 * at the same address: no mapping is writable, so it can seal the file. Other
 * workers map the file before the load and take its blocks in the same order.
 *
 * Failures: a file with another key, without seals or with a bad index is not used. A
 * block that the file lacks, or has no room for, is private.
 */
#include "runtime/engine/weights.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/ir/graph.h"
#include "proto/base/fnv.h"

#ifdef __aarch64__
#define PAGE 65536u /* the largest that a kernel may have */
#else
#define PAGE 4096u
#endif
#define ALIGNMENT 64u
#define LEAST_BYTES                                                                    \
	(4u * PAGE)       /* a page boundary would waste much of a smaller one         \
			   */
#define MOST_BLOCKS 8192u /* each is a mapping, and the kernel limits those */

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static const char magic[8] = {'m', 's', 'd', 'w', 'g', 'h', 't', '1'};

struct head {
	char magic[sizeof(magic)];
	uint64_t key_bytes;
	uint64_t n; /* blocks */
};

/* A block of the first worker. */
struct mapped {
	void *p;
	uint64_t mark;
	size_t bytes; /* as the caller asked */
	bool is_shared;
};

enum mode { PRIVATE, FILLING, TAKING };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	enum mode mode;
	struct msd_weights_file file;
	/* used by the first worker */
	struct mapped *mine;
	size_t n_mine, cap;
	/* of the others */
	struct msd_span map;
	struct msd_weights_block *blocks; /* NULL: none */
	size_t n_blocks, next;
	struct msd_weights_sums sums;
} w;

static size_t paged(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static bool is_within(const struct msd_weights_block *b, uint64_t from, uint64_t end)
{
	return b->at % ALIGNMENT == 0 && b->at >= from && b->at <= end &&
	       b->bytes <= end - b->at;
}

struct msd_weights_block *msd_weights_read(struct msd_span file, struct msd_span key,
					   size_t *ret_n)
{
	struct head head;

	if (file.n < sizeof(head))
		return NULL;
	memcpy(&head, file.p, sizeof(head));
	size_t left = file.n - sizeof(head);
	if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.key_bytes != key.n ||
	    key.n > left ||
	    (key.n > 0 && memcmp(file.p + sizeof(head), key.p, key.n) != 0))
		return NULL;
	left -= key.n;
	if (head.n > MOST_BLOCKS || head.n > left / sizeof(struct msd_weights_block))
		return NULL;
	const size_t bytes = (size_t)head.n * sizeof(struct msd_weights_block);
	struct msd_weights_block *blocks = malloc(bytes + 1);
	if (blocks == NULL)
		return NULL;
	memcpy(blocks, file.p + sizeof(head) + key.n, bytes);
	for (size_t i = 0; i < head.n; i++) {
		if (!is_within(&blocks[i], sizeof(head) + key.n + bytes, file.n)) {
			free(blocks);
			return NULL;
		}
	}
	*ret_n = (size_t)head.n;
	return blocks;
}

static bool is_sealed(int fd)
{
	const int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

/* A private mapping does not keep the file from being sealed, and its pages are the
 * file's as long as none is written. */
static void map_file(void)
{
	struct stat st;

	if (!is_sealed(w.file.fd) || fstat(w.file.fd, &st) != 0 || st.st_size <= 0 ||
	    (uint64_t)st.st_size != w.file.bytes)
		return;
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, w.file.fd, 0);
	if (p == MAP_FAILED)
		return;
	w.map = (struct msd_span){p, (size_t)st.st_size};
	w.blocks = msd_weights_read(w.map, w.file.key, &w.n_blocks);
	if (w.blocks != NULL) {
		w.mode = TAKING;
		return;
	}
	(void)munmap(p, w.map.n);
	w.map = (struct msd_span){0};
}

void msd_weights_begin(const struct msd_weights_file *file)
{
	(void)pthread_mutex_lock(&lock);
	w.file = *file;
	if (file->fd >= 0 && file->is_filled && w.map.n == 0) {
		map_file();
	} else if (file->fd >= 0 && !file->is_filled) {
		w.mode = FILLING;
	}
	(void)pthread_mutex_unlock(&lock);
}

/* Names and numbers may repeat, in graphs within nodes. */
static uint64_t mark_of(const modser_sg_node *node, const char *how)
{
	const char *op = modser_sg_op_name(node->op);
	uint64_t mark = msd_fnv(MSD_FNV_BEGIN, &node->number, sizeof(node->number));

	mark = msd_fnv(mark, &node->index, sizeof(node->index));
	mark = msd_fnv(mark, node->name, strlen(node->name) + 1);
	mark = msd_fnv(mark, op, strlen(op) + 1);
	return msd_fnv(mark, how, strlen(how));
}

static void *take_private(size_t bytes)
{
	return bytes <= SIZE_MAX - ALIGNMENT
		       ? aligned_alloc(ALIGNMENT,
				       (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT)
		       : NULL;
}

/* Anonymous pages: the process's limit of memory counts them. NULL: the block must be
 * private. */
static void *take_mine(uint64_t mark, size_t bytes)
{
	if (w.n_mine == w.cap) {
		const size_t cap = w.cap * 2 + 64;
		struct mapped *mine = realloc(w.mine, cap * sizeof(*mine));

		if (mine == NULL)
			return NULL;
		w.mine = mine;
		w.cap = cap;
	}
	if (w.n_mine == MOST_BLOCKS || bytes > SIZE_MAX - PAGE)
		return NULL;
	void *p = mmap(NULL, paged(bytes), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	w.mine[w.n_mine++] = (struct mapped){p, mark, bytes, false};
	return p;
}

/* The next block of the file, if it is the wanted one. */
static void *take_filled(uint64_t mark, size_t bytes)
{
	if (w.next == w.n_blocks || w.blocks[w.next].mark != mark ||
	    w.blocks[w.next].bytes != bytes)
		return NULL;
	w.sums.shared_bytes += bytes;
	return (void *)(uintptr_t)(w.map.p + w.blocks[w.next++].at);
}

void *msd_weights_take(const modser_sg_node *node, const char *how, size_t bytes,
		       bool *ret_is_packed)
{
	void *p = NULL;

	*ret_is_packed = false;
	(void)pthread_mutex_lock(&lock);
	if (w.mode != PRIVATE && bytes >= LEAST_BYTES) {
		const uint64_t mark = mark_of(node, how);

		p = w.mode == FILLING ? take_mine(mark, bytes)
				      : take_filled(mark, bytes);
		*ret_is_packed = p != NULL && w.mode == TAKING;
	}
	if (p == NULL)
		p = take_private(bytes);
	w.sums.bytes += p != NULL ? bytes : 0;
	(void)pthread_mutex_unlock(&lock);
	return p;
}

static bool is_in_map(const void *p)
{
	const uintptr_t at = (uintptr_t)p;
	const uintptr_t first = (uintptr_t)w.map.p;

	return w.map.n > 0 && at >= first && at - first < w.map.n;
}

/* The last one is the likeliest: a claim drops what it has just taken. */
static struct mapped *find_mine(const void *p)
{
	for (size_t i = w.n_mine; i > 0; i--) {
		if (w.mine[i - 1].p == p)
			return &w.mine[i - 1];
	}
	return NULL;
}

void msd_weights_give(void *p, size_t bytes)
{
	(void)pthread_mutex_lock(&lock);
	struct mapped *mine = bytes >= LEAST_BYTES ? find_mine(p) : NULL;
	const bool is_heap = mine == NULL && !is_in_map(p);

	w.sums.bytes -= p != NULL ? bytes : 0;
	if (p != NULL && (is_in_map(p) || (mine != NULL && mine->is_shared)))
		w.sums.shared_bytes -= bytes;
	if (mine != NULL) {
		(void)munmap(p, paged(mine->bytes));
		w.n_mine--;
		memmove(mine, mine + 1,
			(size_t)(w.mine + w.n_mine - mine) * sizeof(*mine));
	}
	(void)pthread_mutex_unlock(&lock);
	if (is_heap)
		free(p);
}

bool msd_weights_are_shared(const void *p)
{
	(void)pthread_mutex_lock(&lock);
	const struct mapped *mine = find_mine(p);
	const bool is_shared = is_in_map(p) || (mine != NULL && mine->is_shared);

	(void)pthread_mutex_unlock(&lock);
	return is_shared;
}

static bool write_all(const void *from, size_t n, uint64_t at)
{
	const char *p = from;

	while (n > 0) {
		const ssize_t written = pwrite(w.file.fd, p, n, (off_t)at);

		if (written <= 0)
			return false;
		p += written;
		n -= (size_t)written;
		at += (uint64_t)written;
	}
	return true;
}

/* Write the block to @at, and use the file's pages from now on. */
static bool share(struct mapped *m, uint64_t at)
{
	if (!write_all(m->p, m->bytes, at))
		return false;
	void *p = mmap(m->p, paged(m->bytes), PROT_READ, MAP_PRIVATE | MAP_FIXED,
		       w.file.fd, (off_t)at);
	if (p == MAP_FAILED)
		abort(); /* the old pages may be gone: no run can go on */
	m->is_shared = true;
	return true;
}

static void fill(void)
{
	const struct msd_span key = w.file.key;
	struct msd_weights_block *blocks = calloc(w.n_mine + 1, sizeof(*blocks));
	uint64_t at = paged(sizeof(struct head) + key.n + w.n_mine * sizeof(*blocks));
	struct head head = {.key_bytes = key.n};

	memcpy(head.magic, magic, sizeof(magic));
	while (blocks != NULL && head.n < w.n_mine) {
		struct mapped *m = &w.mine[head.n];

		if (at > w.file.bytes || paged(m->bytes) > w.file.bytes - at ||
		    !share(m, at))
			break;
		blocks[head.n++] = (struct msd_weights_block){m->mark, at, m->bytes};
		at += paged(m->bytes);
		w.sums.shared_bytes += m->bytes;
	}
	const bool is_filled =
		head.n > 0 && write_all(&head, sizeof(head), 0) &&
		write_all(key.p, key.n, sizeof(head)) &&
		write_all(blocks, head.n * sizeof(*blocks), sizeof(head) + key.n) &&
		ftruncate(w.file.fd, (off_t)at) == 0 &&
		fcntl(w.file.fd, F_ADD_SEALS, SEALS) == 0;
	(void)is_filled; /* the supervisor looks for the seals */
	free(blocks);
}

uint64_t msd_weights_end(void)
{
	(void)pthread_mutex_lock(&lock);
	if (w.mode == FILLING)
		fill();
	w.mode = PRIVATE;
	w.file = (struct msd_weights_file){.fd = -1};
	free(w.blocks);
	w.blocks = NULL;
	w.n_blocks = w.next = 0;
	const uint64_t bytes = w.sums.shared_bytes;
	(void)pthread_mutex_unlock(&lock);
	return bytes;
}

struct msd_weights_sums msd_weights_sum(void)
{
	(void)pthread_mutex_lock(&lock);
	const struct msd_weights_sums sums = w.sums;
	(void)pthread_mutex_unlock(&lock);
	return sums;
}
