/*
 * Happy path: a memfd from a client is checked, gets a number, is named by requests
 * and passed to processes. When the last reference is released, all these processes
 * are notified and it is closed. Failures: the memfd is not valid, or there are too
 * many: the caller keeps the descriptor.
 */
#include "daemon/supervisor/request/client_segment.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "daemon/loop/closer.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

static const struct {
	int seal;
	const char *name;
} wanted_seals[] = {
	{F_SEAL_SHRINK, "F_SEAL_SHRINK"},
	{F_SEAL_GROW, "F_SEAL_GROW"},
	{F_SEAL_SEAL, "F_SEAL_SEAL"},
};

/* Check seals first: it never blocks, and only a memfd has seals. */
static msd_err check_seals(int fd, int *ret, struct msd_diag *d)
{
	const int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "the descriptor is not a memfd that can be sealed "
				    "(MFD_ALLOW_SEALING)");
	}
	for (size_t i = 0; i < sizeof(wanted_seals) / sizeof(*wanted_seals); i++) {
		if ((seals & wanted_seals[i].seal) == 0) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "the memfd lacks the seal %s",
					    wanted_seals[i].name);
		}
	}
	*ret = seals;
	return MSD_OK;
}

static msd_err check_size(const struct stat *st, uint64_t bytes, struct msd_diag *d)
{
	if (bytes == 0)
		return msd_diag_set(d, MSD_BAD_REQUEST, "a segment of 0 bytes");
	if ((uint64_t)st->st_size != bytes) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "the memfd has %llu bytes, not the %llu that are "
				    "claimed",
				    (unsigned long long)st->st_size,
				    (unsigned long long)bytes);
	}
	return MSD_OK;
}

msd_err msd_client_segment_check(int fd, uint64_t bytes,
				 struct msd_client_segment *loan, struct msd_diag *d)
{
	struct statfs fs;
	struct stat st;
	int seals = 0;
	msd_err err = check_seals(fd, &seals, d);

	if (err != MSD_OK)
		return err;
	const int access = fcntl(fd, F_GETFL) & O_ACCMODE;
	if (access == O_WRONLY)
		return msd_diag_set(d, MSD_BAD_REQUEST, "the memfd cannot be read");
	/* A page fault on a missing huge page would kill a worker. */
	if (fstat(fd, &st) != 0 || fstatfs(fd, &fs) != 0 || fs.f_type != TMPFS_MAGIC) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "the memfd has huge pages");
	}
	err = check_size(&st, bytes, d);
	if (err != MSD_OK)
		return err;
	*loan = (struct msd_client_segment){
		.bytes = bytes,
		.device = st.st_dev,
		.inode = st.st_ino,
		.is_writable = access == O_RDWR &&
			       (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == 0,
	};
	return MSD_OK;
}

static bool find_number(const struct msd_client_segments *all, uint16_t *ret)
{
	for (uint16_t i = 0; i < MSD_MAX_LENT; i++) {
		if (all->at[i] == NULL) {
			*ret = i;
			return true;
		}
	}
	return false;
}

msd_err msd_client_segment_make(struct msd_client_segments *all, int fd,
				const struct msd_client_segment *seen,
				struct msd_client_segment **ret, struct msd_diag *d)
{
	uint16_t number;

	if (!find_number(all, &number)) {
		return msd_diag_set(
			d, MSD_BUSY,
			"all connections together share %u segments, the maximum",
			MSD_MAX_LENT);
	}
	struct msd_client_segment *l = malloc(sizeof(*l));
	if (l == NULL)
		return msd_diag_no_memory(d);
	*l = *seen;
	l->all = all;
	l->fd = fd;
	l->number = number;
	l->refs = 1;
	msd_list_init(&l->borrowers);
	all->at[number] = l;
	all->n++;
	all->bytes += l->bytes;
	*ret = l;
	return MSD_OK;
}

void msd_client_segment_unref(struct msd_client_segment *l)
{
	if (l == NULL || --l->refs > 0)
		return;
	struct msd_list *it;
	while ((it = msd_list_first(&l->borrowers)) != NULL) {
		struct msd_segment_user *b =
			MSD_CONTAINER_OF(it, struct msd_segment_user, of_loan);
		msd_list_remove(it);
		b->take_back(b);
	}
	if (l->on_over != NULL)
		l->on_over(l);
	l->all->at[l->number] = NULL;
	l->all->n--;
	l->all->bytes -= l->bytes;
	msd_closer_close(l->fd);
	free(l);
}

bool msd_segment_lookup_add(struct msd_segment_lookup **l,
			    struct msd_client_segment *loan)
{
	if (*l == NULL)
		*l = calloc(1, sizeof(**l));
	if (*l == NULL)
		return false;
	if (msd_segment_lookup_find(*l, loan->number) != NULL)
		return true;
	/* It always fits: a connection has at most that many segments, and its
	 * requests name only its own. */
	(*l)->of[(*l)->n++] = loan;
	loan->refs++;
	return true;
}

struct msd_client_segment *msd_segment_lookup_find(const struct msd_segment_lookup *l,
						   uint16_t number)
{
	for (uint32_t i = 0; l != NULL && i < l->n; i++) {
		if (l->of[i]->number == number)
			return l->of[i];
	}
	return NULL;
}

void msd_segment_lookup_end(struct msd_segment_lookup **l)
{
	for (uint32_t i = 0; *l != NULL && i < (*l)->n; i++)
		msd_client_segment_unref((*l)->of[i]);
	free(*l);
	*l = NULL;
}
