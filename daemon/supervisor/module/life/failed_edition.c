#include "daemon/supervisor/module/life/failed_edition.h"

#include <stdio.h>
#include <stdlib.h>

#define SHOWN_DIGITS 12 /* shown digits of a digest */

void msd_failed_edition_note(struct msd_failed_edition *s,
			     const struct msd_digest *digest, const char *why)
{
	char digits[MSD_DIGEST_TEXT] = "";

	msd_failed_edition_finish(s);
	s->has_digest = digest != NULL;
	if (digest != NULL) {
		s->digest = *digest;
		msd_digest_format(digest, digits);
	}
	if (asprintf(&s->why, "edition %.*s failed: %s", SHOWN_DIGITS,
		     digest != NULL ? digits : "(unread)", why) < 0)
		s->why = NULL;
}

void msd_failed_edition_finish(struct msd_failed_edition *s)
{
	free(s->why);
	*s = (struct msd_failed_edition){0};
}
