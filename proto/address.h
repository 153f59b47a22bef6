#ifndef MSD_PROTO_ADDRESS_H
#define MSD_PROTO_ADDRESS_H
/*
 * Where a daemon listens and a client connects: `unix:PATH`, `tcp://HOST:PORT` or
 * `tls://HOST:PORT`, and the address of both when none is given. Text only: nothing
 * here opens a socket; the default looks at the file system with lstat().
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/diag.h"

#define MSD_ADDRESS_PATH_MAX 107u /* bytes of a socket's path, NUL not counted */
#define MSD_ADDRESS_HOST_MAX 255u
#define MSD_ADDRESS_TEXT_MAX 320u /* bytes incl. NUL for msd_address_format() */

/* Where root's daemon listens by default. It is the system's: others may see into it.
 */
#define MSD_ADDRESS_SYSTEM_DIR "/run/modserd"

enum msd_address_kind { MSD_ADDRESS_UNIX, MSD_ADDRESS_TCP, MSD_ADDRESS_TLS };

struct msd_address {
	enum msd_address_kind kind;
	char path[MSD_ADDRESS_PATH_MAX + 1]; /* UNIX */
	char host[MSD_ADDRESS_HOST_MAX +
		  1];  /* else: name or number, without brackets */
	uint16_t port; /* 0: any, for a listener */
	/* UNIX: bytes of `path` that name a directory which is the user's own: the
	 * daemon makes it with mode 0700, both check it with msd_address_check_dir().
	 * 0: the directory is somebody else's business. */
	uint32_t own_dir_bytes;
};

/**
 * Parse @text. An IPv6 number stands in brackets: tcp://[::1]:9190.
 * Errors: MSD_BAD_REQUEST, naming @text and the forms.
 */
MSD_MUST_CHECK msd_err msd_address_parse(const char *text, struct msd_address *ret,
					 struct msd_diag *d);
/**
 * The address when none is given: /run/modserd/modserd.sock for root, else
 * $XDG_RUNTIME_DIR/modserd/modserd.sock, else /tmp/modserd-UID/modserd.sock.
 * @for_client: when that socket is not there and /run's is, /run's.
 * Errors: MSD_REFUSED when the directory is there and not the user's own.
 */
MSD_MUST_CHECK msd_err msd_address_default(bool for_client, struct msd_address *ret,
					   struct msd_diag *d);
/**
 * Check that @a's own directory, when it has one and it exists, is a directory of this
 * user with no rights for others. Errors: MSD_REFUSED.
 */
MSD_MUST_CHECK msd_err msd_address_check_dir(const struct msd_address *a,
					     struct msd_diag *d);
/** As msd_address_parse() reads it; returns @buf. */
const char *msd_address_format(const struct msd_address *a,
			       char buf[static MSD_ADDRESS_TEXT_MAX]);

#endif
