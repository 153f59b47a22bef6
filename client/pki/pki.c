/*
 * Happy path: all certificates are made in memory, then each is written as two new
 * files. Failures: the files already written are removed, and the error names the
 * file.
 */
#include "client/pki/pki.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/values/file.h"
#include "client/pki/certificate.h"
#include "proto/base/bytes.h"
#include "proto/name.h"

#define AUTHORITY "ca"
#define SERVER "server"
#define N_INIT 3u /* an authority, a server, a client */

/* The two files of one certificate. */
struct pair {
	char cert[MSD_PATH_BYTES], key[MSD_PATH_BYTES];
};

static msd_err name_pair(const char *folder, const char *name, struct pair *ret,
			 struct msd_diag *d)
{
	char file[MSD_CERTIFICATE_NAME_MAX + sizeof(".pem")];

	(void)snprintf(file, sizeof(file), "%s.pem", name);
	msd_err err = msd_file_join(folder, file, ret->cert, d);
	(void)snprintf(file, sizeof(file), "%s.key", name);
	return err == MSD_OK ? msd_file_join(folder, file, ret->key, d) : err;
}

static msd_err open_file(const char *path, int flags, mode_t mode, FILE **ret,
			 struct msd_diag *d)
{
	const int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode);
	const int error = errno;

	*ret = fd >= 0 ? fdopen(fd, flags == O_RDONLY ? "r" : "w") : NULL;
	if (*ret != NULL)
		return MSD_OK;
	if (fd >= 0)
		return msd_diag_no_memory(d);
	if (error == EEXIST) {
		return msd_diag_set(d, MSD_REFUSED,
				    "%s: the file exists and is not overwritten", path);
	}
	return msd_diag_set(d, error == ENOENT ? MSD_NOT_FOUND : MSD_IO, "%s: %s", path,
			    strerror(error));
}

/* Close a written file; false, with errno: the write failed. */
static bool is_closed(FILE *f)
{
	const bool is_whole = ferror(f) == 0 && fflush(f) == 0 && fsync(fileno(f)) == 0;
	const int error = errno;
	const bool is_done = fclose(f) == 0 && is_whole;

	errno = is_whole ? errno : error;
	return is_done;
}

static void remove_pair(const struct pair *p)
{
	(void)unlink(p->key);
	(void)unlink(p->cert);
}

/* Write both files, or none. */
static msd_err save(const struct msd_certificate *c, const struct pair *p,
		    struct msd_diag *d)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL;
	FILE *key, *cert;
	msd_err err = open_file(p->key, flags, 0600, &key, d);

	if (err != MSD_OK)
		return err;
	err = open_file(p->cert, flags, 0644, &cert, d);
	if (err != MSD_OK) {
		(void)fclose(key);
		(void)unlink(p->key);
		return err;
	}
	const bool is_written = msd_certificate_write(c, cert, key);
	const bool has_cert = is_closed(cert);
	if (!is_closed(key) || !has_cert || !is_written) {
		err = msd_diag_set(d, MSD_IO, "%s: %s", p->key, strerror(errno));
		remove_pair(p);
	}
	return err;
}

static bool is_host_name(const char *host)
{
	const size_t n = strspn(host, "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");

	return n > 0 && host[n] == '\0' && n <= 253;
}

/* Format the names as a certificate's alternative names. */
static msd_err put_hosts(const char *const *hosts, size_t n, struct msd_buf *ret,
			 struct msd_diag *d)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t number[sizeof(struct in6_addr)];
		const bool is_number = inet_pton(AF_INET, hosts[i], number) == 1 ||
				       inet_pton(AF_INET6, hosts[i], number) == 1;

		if (!is_number && !is_host_name(hosts[i])) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "\"%s\": expected a host name or number, "
					    "as in the clients' tls:// address",
					    hosts[i]);
		}
		msd_buf_printf(ret, "%s%s:%s", i > 0 ? "," : "",
			       is_number ? "IP" : "DNS", hosts[i]);
	}
	msd_buf_put_u8(ret, 0);
	return ret->bad ? msd_diag_no_memory(d) : MSD_OK;
}

static msd_err save_all(const char *folder, const struct msd_certificate_wish *wishes,
			struct msd_certificate *const *made, struct msd_diag *d)
{
	struct pair pairs[N_INIT];
	msd_err err = MSD_OK;
	size_t n = 0;

	for (size_t i = 0; i < N_INIT && err == MSD_OK; i++)
		err = name_pair(folder, wishes[i].name, &pairs[i], d);
	if (err == MSD_OK && mkdir(folder, 0700) != 0 && errno != EEXIST)
		err = msd_diag_set(d, MSD_IO, "%s: %s", folder, strerror(errno));
	while (n < N_INIT && err == MSD_OK) {
		err = save(made[n], &pairs[n], d);
		n += err == MSD_OK;
	}
	while (err != MSD_OK && n > 0)
		remove_pair(&pairs[--n]);
	return err;
}

msd_err msd_pki_init(const char *folder, const char *const *hosts, size_t n,
		     struct msd_diag *d)
{
	struct msd_certificate *made[N_INIT] = {NULL};
	struct msd_buf alt_names = {0};
	msd_err err = put_hosts(hosts, n, &alt_names, d);
	const struct msd_certificate_wish wishes[N_INIT] = {
		{MSD_CERTIFICATE_AUTHORITY, AUTHORITY, NULL},
		{MSD_CERTIFICATE_SERVER, SERVER, (const char *)alt_names.p},
		{MSD_CERTIFICATE_CLIENT, "client", NULL}};

	for (size_t i = 0; i < N_INIT && err == MSD_OK; i++)
		err = msd_certificate_make(&wishes[i], made[0], &made[i], d);
	if (err == MSD_OK)
		err = save_all(folder, wishes, made, d);
	for (size_t i = 0; i < N_INIT; i++)
		msd_certificate_destroy(made[i]);
	msd_buf_finish(&alt_names);
	return err;
}

static msd_err read_authority(const char *folder, struct msd_certificate **ret,
			      struct msd_diag *d)
{
	struct pair p;
	FILE *cert, *key;
	msd_err err = name_pair(folder, AUTHORITY, &p, d);

	if (err == MSD_OK)
		err = open_file(p.cert, O_RDONLY, 0, &cert, d);
	if (err != MSD_OK)
		return err;
	err = open_file(p.key, O_RDONLY, 0, &key, d);
	if (err == MSD_OK) {
		err = msd_certificate_read(cert, key, ret, d);
		if (err != MSD_OK)
			(void)msd_diag_wrap(d, err, "%s", p.cert);
		(void)fclose(key);
	}
	(void)fclose(cert);
	return err;
}

/* Create the certificate @wish, signed by the authority in @folder. */
static msd_err add(const char *folder, const struct msd_certificate_wish *wish,
		   struct msd_diag *d)
{
	struct msd_certificate *authority = NULL, *made = NULL;
	struct pair p;
	msd_err err = name_pair(folder, wish->name, &p, d);

	if (err == MSD_OK)
		err = read_authority(folder, &authority, d);
	if (err == MSD_OK)
		err = msd_certificate_make(wish, authority, &made, d);
	if (err == MSD_OK)
		err = save(made, &p, d);
	msd_certificate_destroy(authority);
	msd_certificate_destroy(made);
	return err;
}

msd_err msd_pki_add_server(const char *folder, const char *const *hosts, size_t n,
			   struct msd_diag *d)
{
	struct msd_buf alt_names = {0};
	msd_err err = put_hosts(hosts, n, &alt_names, d);

	if (err == MSD_OK) {
		const struct msd_certificate_wish wish = {
			MSD_CERTIFICATE_SERVER, SERVER, (const char *)alt_names.p};
		err = add(folder, &wish, d);
	}
	msd_buf_finish(&alt_names);
	return err;
}

msd_err msd_pki_add_client(const char *folder, const char *name, struct msd_diag *d)
{
	const struct msd_certificate_wish wish = {MSD_CERTIFICATE_CLIENT, name, NULL};
	const struct msd_span word = msd_span_of(name);

	if (word.n > MSD_CERTIFICATE_NAME_MAX || !msd_name_valid(word)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "\"%s\": expected a name of at most %u letters, "
				    "digits, . _ -",
				    name, MSD_CERTIFICATE_NAME_MAX);
	}
	return add(folder, &wish, d);
}
