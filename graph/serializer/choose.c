#include "graph/serializer/choose.h"

#include <stdlib.h>
#include <string.h>

#include "graph/serializer/serializer.h"

static msd_err unknown(const char *format, struct msd_diag *d)
{
	struct msd_buf keys = {0};
	modser_serializer *s;
	char *key;

	for (size_t i = 0; (s = modser_serializer_at(i, &key)) != NULL; i++) {
		msd_buf_printf(&keys, "%s%s", i > 0 ? ", " : "", key);
		free(key);
		modser_serializer_unref(s);
	}
	const msd_err err =
		keys.bad ? msd_diag_no_memory(d)
			 : msd_diag_set(d, MSD_BAD_ARGUMENT,
					"unknown format %s; expected %.*s (`modser "
					"formats`; plugins add others)",
					format, (int)keys.n,
					keys.n > 0 ? (const char *)keys.p : "");
	msd_buf_finish(&keys);
	return err;
}

/* True if each file that @s wants is among @f, and nothing else. */
static bool fits(const modser_serializer *s, const struct msd_model_files *f)
{
	const modser_serializer_ops *ops = s->ops;

	for (size_t i = 0; i < ops->n_files && ops->files != NULL; i++) {
		bool is_found = false;

		for (size_t k = 0; k < f->n && !is_found; k++) {
			is_found = ops->files[i].probe(f->items[k].bytes.p,
						       f->items[k].bytes.n);
		}
		if (!is_found)
			return false;
	}
	return ops->files != NULL && ops->n_files == f->n;
}

modser_serializer *msd_serializer_recognize(const struct msd_model_files *files)
{
	modser_serializer *s = NULL;
	char *key;

	for (size_t i = 0; files->n > 1 && (s = modser_serializer_at(i, &key)) != NULL;
	     i++) {
		free(key);
		if (fits(s, files))
			return s;
		modser_serializer_unref(s);
		s = NULL;
	}
	for (size_t i = 0; i < files->n && s == NULL; i++) {
		s = modser_serializer_probe(files->items[i].bytes.p,
					    files->items[i].bytes.n);
	}
	return s;
}

msd_err msd_serializer_choose(const char *format, const struct msd_model_files *files,
			      modser_serializer **ret, struct msd_diag *d)
{
	modser_serializer *s = *format != '\0' ? modser_serializer_named(format)
					       : msd_serializer_recognize(files);

	if (s == NULL && *format != '\0')
		return unknown(format, d);
	if (s == NULL) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "no serializer knows such a file");
	}
	*ret = s;
	return MSD_OK;
}

msd_err msd_serializer_blame(const char *format, const struct msd_model_files *files,
			     msd_err err, struct msd_diag *d)
{
	const struct msd_span file = files->items[0].bytes;
	static const char elf[] = {0x7f, 'E', 'L', 'F'};
	modser_serializer *s;

	if (*format == '\0')
		return err;
	s = msd_serializer_recognize(files);
	if (s != NULL) {
		modser_serializer *said = modser_serializer_named(format);

		if (said != s) {
			err = msd_diag_wrap(
				d, err,
				"the option format is %s, but the file looks like %s",
				format, modser_serializer_format(s));
		}
		modser_serializer_unref(said);
	} else if (file.n >= sizeof(elf) && memcmp(file.p, elf, sizeof(elf)) == 0) {
		err = msd_diag_wrap(d, err,
				    "the option format is %s, but the file is a "
				    "compiled library (ELF)",
				    format);
	} else {
		err = msd_diag_wrap(d, err,
				    "the option format is %s, but the format of the "
				    "file is unknown",
				    format);
	}
	modser_serializer_unref(s);
	return err;
}
