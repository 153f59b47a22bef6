/*
 * Happy path: a segment that the other side passes is mapped if its seals and size
 * match the announcement. It is unmapped when the other side takes it back. Failures:
 * the descriptor is closed, and nothing has changed.
 */
#include "daemon/segments/segmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "daemon/loop/closer.h"
#include "daemon/segments/segpool.h"
#include "proto/base/xorshift.h"

void msd_segmap_init(struct msd_segmap *m, uint64_t max_bytes)
{
	*m = (struct msd_segmap){.max_bytes = max_bytes};
	/* If the system has no random bytes yet, it is too early for an attack. */
	(void)!getrandom(&m->chance, sizeof(m->chance), GRND_NONBLOCK);
	m->chance |= 1;
}

void msd_segmap_finish(struct msd_segmap *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->maps[i].p != NULL)
			msd_closer_unmap(m->maps[i].p, m->maps[i].bytes);
	}
	free(m->maps);
	*m = (struct msd_segmap){0};
}

/* A missing page would be allocated and charged to us when we read it. */
static msd_err segmap_check_limit(const struct msd_segmap *m, uint16_t index,
				  const struct stat *st, struct msd_diag *d)
{
	const uint64_t bytes = (uint64_t)st->st_size;

	if (bytes > m->max_bytes - m->total_bytes) {
		return msd_diag_set(
			d, MSD_PROTOCOL,
			"segment %u of %llu bytes is over the limit: %llu of %llu are "
			"mapped",
			index, (unsigned long long)bytes,
			(unsigned long long)m->total_bytes,
			(unsigned long long)m->max_bytes);
	}
	if ((uint64_t)st->st_blocks * 512 < bytes)
		return msd_diag_set(d, MSD_PROTOCOL, "segment %u has holes", index);
	return MSD_OK;
}

/* Huge pages come from a pool that the administrator sizes, and no part of one can be
 * given back. The seals prove that it is memory, so this call cannot sleep. */
static bool is_of_ordinary_pages(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

static msd_err segmap_check(const struct msd_segmap *m, uint16_t index, int fd,
			    uint64_t bytes, struct msd_diag *d)
{
	const int wanted = F_SEAL_SHRINK | F_SEAL_GROW;
	struct stat st;

	if (fd < 0) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "segment %u came without a descriptor", index);
	}
	if (index >= MSD_FIRST_LENT + MSD_MAX_LENT ||
	    (index < m->n && m->maps[index].p != NULL)) {
		return msd_diag_set(d, MSD_PROTOCOL, "segment index %u is not free",
				    index);
	}
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & wanted) != wanted)
		return msd_diag_set(d, MSD_PROTOCOL, "segment %u is not sealed", index);
	if (!is_of_ordinary_pages(fd)) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "segment %u is not of ordinary pages", index);
	}
	if (fstat(fd, &st) != 0 || bytes == 0 || (uint64_t)st.st_size != bytes) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "segment %u has not the %llu bytes it claims",
				    index, (unsigned long long)bytes);
	}
	return m->max_bytes > 0 ? segmap_check_limit(m, index, &st, d) : MSD_OK;
}

msd_err msd_segmap_add(struct msd_segmap *m, uint16_t index, int fd, uint64_t bytes,
		       enum msd_segmap_as as, struct msd_diag *d)
{
	msd_err err = segmap_check(m, index, fd, bytes, d);
	void *map = MAP_FAILED;

	if (err == MSD_OK && index >= m->n) {
		struct msd_segmap_entry *more =
			realloc(m->maps, (index + 1u) * sizeof(*more));
		if (more == NULL) {
			err = msd_diag_no_memory(d);
		} else {
			memset(more + m->n, 0, (index + 1u - m->n) * sizeof(*more));
			m->maps = more;
			m->n = index + 1u;
		}
	}
	if (err == MSD_OK) {
		map = mmap(NULL, bytes,
			   as == MSD_MAP_READ ? PROT_READ : PROT_READ | PROT_WRITE,
			   as == MSD_MAP_APART ? MAP_PRIVATE : MAP_SHARED, fd, 0);
		if (map == MAP_FAILED) {
			err = msd_diag_set(d, MSD_NO_SPACE, "segment %u: mmap: %s",
					   index, strerror(errno));
		}
	}
	if (err != MSD_OK) { /* unknown kind and size: close() may take long */
		msd_closer_close_passed(fd, MSD_CLOSER_WORKERS);
	} else {
		(void)close(fd);
		m->maps[index] = (struct msd_segmap_entry){
			.p = map, .bytes = bytes, .is_apart = as == MSD_MAP_APART};
		m->total_bytes += bytes;
		m->apart_bytes += as == MSD_MAP_APART ? bytes : 0;
	}
	return err;
}

msd_err msd_segmap_remove(struct msd_segmap *m, uint16_t index, struct msd_diag *d)
{
	if (index >= m->n || m->maps[index].p == NULL)
		return msd_diag_set(d, MSD_PROTOCOL, "segment %u is not there", index);
	if (m->maps[index].held.root != NULL) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "segment %u is taken back while it is in use",
				    index);
	}
	const struct msd_segmap_entry *e = &m->maps[index];
	if (e->is_apart) { /* after this the kernel no longer counts it as our data */
		(void)mprotect(e->p, e->bytes, PROT_READ);
		m->apart_bytes -= e->bytes;
	}
	msd_closer_unmap(e->p, e->bytes);
	m->total_bytes -= e->bytes;
	m->maps[index] = (struct msd_segmap_entry){0};
	return MSD_OK;
}

uint8_t *msd_segmap_at(const struct msd_segmap *m, uint16_t index, uint64_t offset,
		       uint64_t bytes)
{
	if (index >= m->n || m->maps[index].p == NULL ||
	    offset > m->maps[index].bytes || bytes > m->maps[index].bytes - offset)
		return NULL;
	return m->maps[index].p + offset;
}

msd_err msd_segmap_hold(struct msd_segmap *m, uint16_t index, struct msd_range *r,
			const uint8_t **ret, struct msd_diag *d)
{
	const uint8_t *p = msd_segmap_at(m, index, r->at, r->bytes);

	if (p == NULL)
		return msd_diag_set(d, MSD_PROTOCOL, "it is outside segment %u", index);
	if (!msd_ranges_add(&m->maps[index].held, r, msd_xorshift(&m->chance))) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "it shares a slot of segment %u with another",
				    index);
	}
	*ret = p;
	return MSD_OK;
}

void msd_segmap_let_go(struct msd_segmap *m, uint16_t index, const struct msd_range *r)
{
	msd_ranges_remove(&m->maps[index].held, r);
}

void msd_segmap_cool(const struct msd_segmap *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->maps[i].p != NULL) { /* a hint: errors are ignored */
			(void)madvise(m->maps[i].p, m->maps[i].bytes, MADV_DONTNEED);
		}
	}
}
