/* The store's record of a module: its editions, their options and self-tests. */
#include "daemon/supervisor/repository/stored_edition.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/supervisor/keep/attachment.h"
#include "daemon/supervisor/module/life/self_test_plan.h"
#include "proto/base/errno_text.h"
#include "proto/words/run_options.h"
#include "store/blob.h"
#include "store/record.h"

void msd_store_index_set(struct msd_store_index *s, const struct msd_record *r)
{
	memcpy(s->have, r->bad, sizeof(r->bad));
	s->n_bad = r->n_bad;
	msd_store_index_forget_editions(s);
	for (unsigned ref = 0; ref < MSD_REF_COUNT; ref++) {
		s->has_edition[ref] = r->editions[ref] != NULL;
		if (!s->has_edition[ref])
			continue;
		s->editions[ref] = r->editions[ref]->digest;
		s->has_name[ref] = r->editions[ref]->has_name;
		s->names[ref] = r->editions[ref]->name;
		s->have[s->n_have++] = s->editions[ref];
	}
}

void msd_store_index_forget_editions(struct msd_store_index *s)
{
	s->n_have = s->n_bad;
	memset(s->has_edition, 0, sizeof(s->has_edition));
}

bool msd_store_index_is_bad(const struct msd_store_index *s,
			    const struct msd_digest *digest)
{
	for (uint32_t i = 0; i < s->n_bad; i++) {
		if (msd_digest_equal(&s->have[i], digest))
			return true;
	}
	return false;
}

bool msd_store_index_is_edition(const struct msd_store_index *s, enum msd_ref ref,
				const struct msd_digest *digest)
{
	return s->has_edition[ref] && msd_digest_equal(&s->editions[ref], digest);
}

enum msd_ref msd_store_index_find_name(const struct msd_store_index *s,
				       const struct msd_digest *name)
{
	unsigned ref = 0;

	while (ref < MSD_REF_COUNT && !(s->has_edition[ref] && s->has_name[ref] &&
					msd_digest_equal(&s->names[ref], name)))
		ref++;
	return ref;
}

_Static_assert(MSD_RUN_KEYS <= MSD_EDITION_OPTIONS, "a record holds all options");
_Static_assert(MSD_MODEL_INPUT_BYTES < MSD_RECORD_VALUE, "a record holds each value");

static msd_err put(const struct msd_run_key *key, const struct msd_run_options *run,
		   struct msd_edition *e, struct msd_diag *d)
{
	struct msd_buf text = {0};

	msd_run_option_print(key, run, &text);
	msd_buf_put(&text, "", 1);
	const msd_err err = text.bad ? msd_diag_no_memory(d)
				     : msd_edition_add_option(e, key->name,
							      (const char *)text.p, d);
	msd_buf_finish(&text);
	return err;
}

msd_err msd_stored_options_put(const struct msd_run_options *run, struct msd_edition *e,
			       struct msd_diag *d)
{
	msd_err err = MSD_OK;

	e->n_options = 0;
	for (unsigned i = 0; err == MSD_OK && i < MSD_RUN_KEYS; i++) {
		const struct msd_run_key *key = &msd_run_keys[i];

		if ((key->fronts & MSD_RUN_LOAD) != 0 &&
		    msd_run_option_is_given(key, run))
			err = put(key, run, e, d);
	}
	return err;
}

#define HEAD_BYTES 32u /* maximum size of the msgpack around the tests */

static msd_err open_file(int *ret, struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	*ret = memfd_create("modserd-trial", MFD_CLOEXEC);
	return *ret >= 0 ? MSD_OK
			 : msd_diag_set(d, MSD_IO, "memory for self-tests: %s",
					msd_errno_text(errno, text));
}

msd_err msd_stored_self_tests_write(const struct msd_self_test *t,
				    struct msd_attachment *ret, struct msd_diag *d)
{
	struct msd_buf b = {0};
	msd_err err;

	msd_pack_array(&b, 2);
	msd_pack_uint(&b, t->n / t->n_each - 1);
	msd_pack_bin(&b, t->tests.p, t->tests.n);
	err = b.bad ? msd_diag_no_memory(d)
		    : msd_attachment_write((struct msd_span){b.p, b.n}, ret, d);
	msd_buf_finish(&b);
	return err;
}

/* Any process with write access to the store could have changed the file. */
static msd_err parse(struct msd_stored_self_tests *t, struct msd_diag *d)
{
	struct msd_wire_value warmup, tests;
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open((struct msd_span){t->bytes.p, t->bytes.n}, &c, &n) ||
	    n != 2 || msd_value_read(&c, &warmup, NULL) != MSD_OK ||
	    msd_value_read(&c, &tests, NULL) != MSD_OK || warmup.kind != MSD_K_INT ||
	    tests.kind != MSD_K_BYTES || warmup.as.i < 0 ||
	    warmup.as.i > MSD_SELF_TEST_WARMUP) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "its self-tests are malformed");
	}
	t->warmup = (uint32_t)warmup.as.i;
	t->tests = tests.as.str;
	return msd_self_test_check(t->tests, &n, d);
}

static msd_err read_back(int fd, struct msd_buf *ret, uint64_t bytes,
			 struct msd_diag *d)
{
	if (!msd_buf_reserve(ret, (size_t)bytes))
		return msd_diag_no_memory(d);
	if (pread(fd, ret->p, (size_t)bytes, 0) != (ssize_t)bytes)
		return msd_diag_set(d, MSD_IO, "self-tests cannot be read");
	ret->n = (size_t)bytes;
	return MSD_OK;
}

static msd_err read_file(const struct msd_store *s, const struct msd_edition_file *f,
			 struct msd_stored_self_tests *ret, struct msd_diag *d)
{
	int fd;
	msd_err err;

	if (f->bytes > MSD_SELF_TEST_BYTES + HEAD_BYTES)
		return msd_diag_set(d, MSD_TOO_LARGE, "its self-tests are too large");
	err = open_file(&fd, d);
	if (err != MSD_OK)
		return err;
	err = msd_blob_get(s, &f->digest, f->bytes, fd, d);
	if (err == MSD_OK)
		err = read_back(fd, &ret->bytes, f->bytes, d);
	(void)close(fd);
	return err == MSD_OK ? parse(ret, d) : err;
}

msd_err msd_stored_self_tests_read(const struct msd_store *s,
				   const struct msd_edition *e,
				   struct msd_stored_self_tests *ret,
				   struct msd_diag *d)
{
	*ret = (struct msd_stored_self_tests){0};
	for (uint32_t i = 0; i < e->n_files; i++) {
		if (e->files[i].role == MSD_ROLE_TEST) {
			const msd_err err = read_file(s, &e->files[i], ret, d);

			return err != MSD_OK ? msd_diag_wrap(d, err, "self-tests")
					     : MSD_OK;
		}
	}
	return MSD_OK;
}

void msd_stored_self_tests_finish(struct msd_stored_self_tests *t)
{
	msd_buf_finish(&t->bytes);
	t->tests = (struct msd_span){0};
}
