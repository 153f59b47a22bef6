#ifndef MSD_SUPERVISOR_LOAN_H
#define MSD_SUPERVISOR_LOAN_H
/*
 * Segments that clients lend: memfds of theirs, of a size that cannot change, in which
 * the tensors of their calls lie. The supervisor maps none of them, so nothing that a
 * client does to its bytes reaches it; it passes the descriptor to the processes that
 * run calls which name it.
 *
 * A loan is over when its client has taken it back, or is gone, and no request names it
 * any more. Then every process that was given it is told so.
 */
#include <sys/types.h>

#include "daemon/wire/list.h"
#include "daemon/wire/segpool.h"
#include "proto/diag.h"
#include "proto/limits.h"

struct msd_loan;

/* All that there are. */
struct msd_loans {
	struct msd_loan *at[MSD_MAX_LENT]; /* by number; NULL: it is free */
	uint32_t n;
	uint64_t bytes;
};

struct msd_loan {
	struct msd_list borrowers; /* msd_borrower.of_loan */
	struct msd_loans *all;
	int fd; /* owned */
	uint64_t bytes;
	dev_t device; /* with @inode which memfd it is */
	ino_t inode;
	uint16_t number; /* in `all` */
	uint16_t name;   /* what its client calls it; the owner's to set */
	bool is_writable;
	uint32_t refs;
	/** It is over; before it is freed. The owner's. */
	void (*on_over)(struct msd_loan *l);
	void *owner;
};

/* Somebody who was given the descriptor: embedded by who knows how to tell. */
struct msd_borrower {
	struct msd_list of_loan; /* msd_loan.borrowers */
	struct msd_loan *loan;
	/** The loan is over: tell, and free @b. */
	void (*take_back)(struct msd_borrower *b);
};

/** What @fd is, which is borrowed: of @loan the size, which memfd, and whether it may
 * be written. MSD_BAD_REQUEST names what is missing: a memfd, one of its seals (SHRINK,
 * GROW, SEAL), ordinary pages, @bytes of them. */
MSD_MUST_CHECK msd_err msd_loan_check(int fd, uint64_t bytes, struct msd_loan *loan,
				      struct msd_diag *d);
/** A loan of @fd, which @seen has been read of, with one reference for the caller;
 * @fd is taken on success. MSD_BUSY: there are as many as may be; MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_loan_make(struct msd_loans *all, int fd,
				     const struct msd_loan *seen, struct msd_loan **ret,
				     struct msd_diag *d);
void msd_loan_unref(struct msd_loan *l); /* NULL is fine */

/* The loans that a request names. */
struct msd_lending {
	uint32_t n;
	struct msd_loan *of[MSD_MAX_CLIENT_SEGMENTS]; /* a reference each */
};

/** @l names @loan, once; makes *@l when there is none. False: out of memory. */
MSD_MUST_CHECK bool msd_lending_add(struct msd_lending **l, struct msd_loan *loan);
/** The loan with that number among all, NULL when @l (NULL: none) does not name it. */
struct msd_loan *msd_lending_find(const struct msd_lending *l, uint16_t number);
/** Nothing is named any more. */
void msd_lending_end(struct msd_lending **l);

#endif
