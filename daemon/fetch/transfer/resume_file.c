/*
 * Happy path: begin opens the existing file; new bytes are appended to it at
 * intervals. If all files together exceed the limit, the oldest other files are
 * removed. Failures: the file is removed, and saving stops.
 */
#include "daemon/fetch/transfer/resume_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "proto/limits.h"

#define STEP_BYTES (512u << 10) /* fewer bytes are not worth saving */
#define RESERVE_PART 20         /* share of the file system that stays free (1/20) */

void msd_resume_file_init(struct msd_resume_file *s, int folder, uint64_t max_bytes)
{
	*s = (struct msd_resume_file){.folder = folder, .max_bytes = max_bytes};
}

static struct msd_digest key_of(const struct msd_resume_file *s,
				const struct msd_digest *digest)
{
	char text[MSD_DIGEST_TEXT + MSD_MAX_NAME_BYTES + 1];
	struct msd_digest key;

	if (s->owner == NULL)
		return *digest;
	msd_digest_format(digest, text);
	(void)strncat(text, s->owner, MSD_MAX_NAME_BYTES);
	msd_digest_of(msd_span_of(text), &key);
	return key;
}

int msd_resume_file_begin(struct msd_resume_file *s, const struct msd_digest *digest,
			  uint64_t *ret_bytes)
{
	struct stat st;

	*ret_bytes = 0;
	if (s->folder < 0)
		return -1;
	const struct msd_digest key = key_of(s, digest);
	msd_digest_format(&key, s->name);
	s->bytes = 0;
	const int fd = openat(s->folder, s->name,
			      O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return -1;
	}
	*ret_bytes = s->bytes = (uint64_t)st.st_size;
	return fd;
}

/* Total bytes of the other files, and the name of the oldest; "" if none. */
static uint64_t look(const struct msd_resume_file *s,
		     char ret_oldest[static MSD_DIGEST_TEXT])
{
	const int fd = openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct timespec least = {0};
	uint64_t bytes = 0;
	struct stat st;

	ret_oldest[0] = '\0';
	if (dir == NULL && fd >= 0)
		(void)close(fd);
	for (struct dirent *e = NULL; dir != NULL && (e = readdir(dir)) != NULL;) {
		if (strlen(e->d_name) != MSD_DIGEST_TEXT - 1 ||
		    strcmp(e->d_name, s->name) == 0 ||
		    fstatat(s->folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		bytes += (uint64_t)st.st_size;
		if (ret_oldest[0] == '\0' || st.st_mtim.tv_sec < least.tv_sec) {
			least = st.st_mtim;
			memcpy(ret_oldest, e->d_name, MSD_DIGEST_TEXT);
		}
	}
	if (dir != NULL)
		(void)closedir(dir);
	return bytes;
}

/* Ensure room for @bytes within the limit, and for @more on the disk. */
static bool make_room(const struct msd_resume_file *s, uint64_t bytes, uint64_t more)
{
	char oldest[MSD_DIGEST_TEXT];
	struct statvfs disk;
	uint64_t others = look(s, oldest);

	if (bytes > s->max_bytes)
		return false;
	while (others > s->max_bytes - bytes) {
		if (oldest[0] == '\0' || unlinkat(s->folder, oldest, 0) != 0)
			return false;
		others = look(s, oldest);
	}
	if (fstatvfs(s->folder, &disk) != 0)
		return false;
	return (uint64_t)disk.f_bavail * disk.f_frsize >
	       more + (uint64_t)disk.f_blocks * disk.f_frsize / RESERVE_PART;
}

static bool copy(int from, uint64_t at, int to, uint64_t bytes)
{
	off_t from_at = (off_t)at;

	while (bytes > 0) {
		const ssize_t n = sendfile(to, from, &from_at,
					   bytes < (1u << 30) ? bytes : 1u << 30);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes -= (uint64_t)n;
	}
	return true;
}

/* Append after the saved bytes. If another process changed the file, start it again. */
static bool append(struct msd_resume_file *s, int from, uint64_t at, uint64_t bytes)
{
	const int fd =
		openat(s->folder, s->name,
		       O_WRONLY | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;
	bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

	if (ok && (uint64_t)st.st_size != s->bytes) {
		s->bytes = 0;
		ok = ftruncate(fd, 0) == 0;
	}
	ok = ok && lseek(fd, (off_t)s->bytes, SEEK_SET) >= 0 &&
	     copy(from, at + s->bytes, fd, bytes - s->bytes);
	if (fd >= 0 && close(fd) != 0)
		ok = false;
	if (ok)
		s->bytes = bytes;
	return ok;
}

void msd_resume_file_put(struct msd_resume_file *s, int fd, uint64_t at, uint64_t bytes,
			 bool now)
{
	if (s->name[0] == '\0' || bytes < STEP_BYTES || bytes <= s->bytes ||
	    (!now && bytes - s->bytes < STEP_BYTES))
		return;
	if (!make_room(s, bytes, bytes - s->bytes) || !append(s, fd, at, bytes))
		msd_resume_file_drop(s);
}

void msd_resume_file_clear(struct msd_resume_file *s)
{
	if (s->name[0] != '\0')
		(void)unlinkat(s->folder, s->name, 0);
	s->bytes = 0;
}

void msd_resume_file_drop(struct msd_resume_file *s)
{
	msd_resume_file_clear(s);
	s->name[0] = '\0';
}
