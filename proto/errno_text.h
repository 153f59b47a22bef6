#ifndef MSD_PROTO_ERRNO_TEXT_H
#define MSD_PROTO_ERRNO_TEXT_H
/* What the system said, for people. Of descriptors that ran out it is said, too, how
 * many there may be and who can change that: "Too many open files" alone sends people
 * to look for a leak. */

#define MSD_ERRNO_TEXT_BYTES 192u
/* What raises the limit, for texts that name it themselves. */
#define MSD_RAISE_DESCRIPTORS "ulimit -n, or LimitNOFILE= of a systemd unit"
#define MSD_RAISE_PROCESSES "ulimit -u, or TasksMax= and LimitNPROC= of a systemd unit"

/** What errno @error means, in @ret, which is returned. When descriptors have run out
 * it says how many there may be and what raises that. */
const char *msd_errno_text(int error, char ret[MSD_ERRNO_TEXT_BYTES]);

#endif
