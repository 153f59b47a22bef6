#include "proto/words/external_data.h"

#include <string.h>

#include "proto/value.h"

uint64_t msd_external_data_at(uint64_t end)
{
	return (end + MSD_EXTERNAL_DATA_PAGE - 1) / MSD_EXTERNAL_DATA_PAGE *
	       MSD_EXTERNAL_DATA_PAGE;
}

static bool is_plain(struct msd_span part)
{
	return part.n > 0 && !msd_span_is(part, ".") && !msd_span_is(part, "..");
}

static bool is_relative(struct msd_span name)
{
	size_t begin = 0;

	if (name.n == 0 || name.n > MSD_EXTERNAL_DATA_NAME_MAX ||
	    memchr(name.p, '\0', name.n) != NULL)
		return false;
	for (size_t i = 0; i <= name.n; i++) {
		if (i < name.n && name.p[i] != '/')
			continue;
		if (!is_plain((struct msd_span){name.p + begin, i - begin}))
			return false;
		begin = i + 1;
	}
	return true;
}

bool msd_external_data_next(struct msd_cur *items, uint64_t *end,
			    struct msd_external_data_file *ret)
{
	struct msd_wire_value pair, name, bytes;

	if (msd_value_read(items, &pair, NULL) != MSD_OK || pair.kind != MSD_K_TUPLE ||
	    pair.as.tuple.n != 2)
		return false;
	struct msd_cur c = msd_cur_of(pair.as.tuple.items);
	if (msd_value_read(&c, &name, NULL) != MSD_OK || name.kind != MSD_K_STR ||
	    msd_value_read(&c, &bytes, NULL) != MSD_OK || bytes.kind != MSD_K_INT ||
	    bytes.as.i <= 0 || *end > INT64_MAX - MSD_EXTERNAL_DATA_PAGE)
		return false;
	*ret = (struct msd_external_data_file){name.as.str, msd_external_data_at(*end),
					       (uint64_t)bytes.as.i};
	return !__builtin_add_overflow(ret->at, ret->bytes, end);
}

msd_err msd_external_data_check(struct msd_span items, uint64_t model_bytes,
				uint64_t whole_bytes, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(items);
	uint64_t end = model_bytes;
	struct msd_external_data_file file;

	for (unsigned n = 0; c.left > 0; n++) {
		if (n == MSD_EXTERNAL_DATA_MAX) {
			return msd_diag_set(d, MSD_TOO_LARGE,
					    "files: more than %u are beside the model",
					    MSD_EXTERNAL_DATA_MAX);
		}
		if (!msd_external_data_next(&c, &end, &file)) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "files: expected [name, bytes] of each, "
					    "bytes at least 1");
		}
		if (!is_relative(file.name)) {
			return msd_diag_set(
				d, MSD_BAD_REQUEST,
				"files: \"%.*s\": expected a relative name of at most "
				"%u bytes without . and ..",
				(int)(file.name.n < 64 ? file.name.n : 64),
				(const char *)file.name.p, MSD_EXTERNAL_DATA_NAME_MAX);
		}
	}
	if (model_bytes > 0 && end == whole_bytes)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "files: a model of %llu bytes and its files, each on a "
			    "page, are %llu bytes, and there are %llu",
			    (unsigned long long)model_bytes, (unsigned long long)end,
			    (unsigned long long)whole_bytes);
}

bool msd_external_data_find(struct msd_span items, uint64_t model_bytes,
			    const char *name, struct msd_external_data_file *ret)
{
	const char *slash = strrchr(name, '/');
	struct msd_cur c = msd_cur_of(items);
	uint64_t end = model_bytes;
	struct msd_external_data_file file;
	bool is_found = false;

	while (c.left > 0 && msd_external_data_next(&c, &end, &file)) {
		const bool is_it = msd_span_is(file.name, name);

		if (is_it ||
		    (slash != NULL && !is_found && msd_span_is(file.name, slash + 1))) {
			*ret = file;
			is_found = true;
		}
		if (is_it)
			break;
	}
	return is_found;
}
