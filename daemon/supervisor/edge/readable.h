#ifndef MSD_SUPERVISOR_READABLE_H
#define MSD_SUPERVISOR_READABLE_H
/* The modules whose bytes an asker may have, where a digest alone names bytes of the
 * store. The keeper's thread asks, while the file of rights may be read again. */
#include <stdbool.h>

#include "daemon/supervisor/rights/acl.h"

struct msd_look;
struct msd_session;

struct msd_readable {
	struct msd_acl *acl; /* as it was when the asker asked; shared; NULL: all are */
	struct msd_grant grant;
};

/** Of @look, which has not begun, @s may have what it may read or bring. End it when
 * the look has ended, or was not begun. */
void msd_readable_begin(struct msd_readable *r, struct msd_session *s,
			struct msd_look *look);
/** On the loop's thread, as the other. */
void msd_readable_end(struct msd_readable *r);

#endif
