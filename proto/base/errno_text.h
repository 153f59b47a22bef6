#ifndef MSD_PROTO_ERRNO_TEXT_H
#define MSD_PROTO_ERRNO_TEXT_H
/* Texts for errno. If descriptors ran out, the text also names the limit and how to
 * raise it: "Too many open files" alone looks like a leak. */

#define MSD_ERRNO_TEXT_BYTES 192u
/* Ways to raise the limit, for texts that mention it. */
#define MSD_RAISE_DESCRIPTORS "ulimit -n, or LimitNOFILE= of a systemd unit"
#define MSD_RAISE_PROCESSES "ulimit -u, or TasksMax= and LimitNPROC= of a systemd unit"

/**
 * Describe errno @error in @ret, which is returned. If descriptors ran out, the text
 * has the limit and how to raise it.
 */
const char *msd_errno_text(int error, char ret[MSD_ERRNO_TEXT_BYTES]);

#endif
