#ifndef MSD_PROTO_ADDRESS_H
#define MSD_PROTO_ADDRESS_H
/*
 * Addresses that a daemon listens on and a client connects to: `unix:PATH`,
 * `tcp://HOST:PORT` or `tls://HOST:PORT`, and the default address of both. Text only:
 * nothing here opens a socket. The default address needs lstat() calls.
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/diag.h"

#define MSD_ADDRESS_PATH_MAX 107u /* bytes of a socket path, without NUL */
#define MSD_ADDRESS_HOST_MAX 255u
#define MSD_ADDRESS_TEXT_MAX 320u /* bytes incl. NUL for msd_address_format() */

/* Directory of root's default socket. It is a system directory, which other users may
 * read. */
#define MSD_ADDRESS_SYSTEM_DIR "/run/modserd"

enum msd_address_kind { MSD_ADDRESS_UNIX, MSD_ADDRESS_TCP, MSD_ADDRESS_TLS };

struct msd_address {
	enum msd_address_kind kind;
	char path[MSD_ADDRESS_PATH_MAX + 1]; /* UNIX */
	char host[MSD_ADDRESS_HOST_MAX +
		  1];  /* else: name or number, without brackets */
	uint16_t port; /* 0 means any, for a listener */
	/*
	 * UNIX: length of the prefix of `path` that is the user's own directory. The
	 * daemon creates it with mode 0700, and both sides check it with
	 * msd_address_check_dir(). 0: the directory is not checked.
	 */
	uint32_t own_dir_bytes;
};

/**
 * Parse @text. An IPv6 number is written in brackets: tcp://[::1]:9190. Errors:
 * MSD_BAD_REQUEST, naming @text and the allowed forms.
 */
MSD_MUST_CHECK msd_err msd_address_parse(const char *text, struct msd_address *ret,
					 struct msd_diag *d);
/**
 * The default address: /run/modserd/modserd.sock for root, else
 * $XDG_RUNTIME_DIR/modserd/modserd.sock, else /tmp/modserd-UID/modserd.sock.
 * @for_client: if that socket does not exist and the one in /run does, use the
 * latter. Errors: MSD_REFUSED if the directory exists and belongs to another user.
 */
MSD_MUST_CHECK msd_err msd_address_default(bool for_client, struct msd_address *ret,
					   struct msd_diag *d);
/**
 * If @a has an own directory and it exists, check that it is a directory of this user
 * without rights for other users. Errors: MSD_REFUSED.
 */
MSD_MUST_CHECK msd_err msd_address_check_dir(const struct msd_address *a,
					     struct msd_diag *d);
/** Format as msd_address_parse() reads it; returns @buf. */
const char *msd_address_format(const struct msd_address *a,
			       char buf[static MSD_ADDRESS_TEXT_MAX]);

#endif
