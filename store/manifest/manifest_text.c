#include <jansson.h>

#include "store/manifest/instant.h"
#include "store/manifest/manifest.h"

static json_t *file_json(const struct msd_edition_file *f)
{
	char digest[MSD_DIGEST_TEXT];

	msd_digest_format(&f->digest, digest);
	return json_pack("{s:s, s:s, s:I, s:s}", "path", f->name, "sha256", digest,
			 "size", (json_int_t)f->bytes, "role", msd_role_word(f->role));
}

static int put_chunk(const char *p, size_t n, void *ctx)
{
	struct msd_buf *out = ctx;

	msd_buf_put(out, p, n);
	return out->bad ? -1 : 0;
}

void msd_edition_manifest_write(const struct msd_edition_manifest *m,
				struct msd_buf *out)
{
	char created[MSD_INSTANT_TEXT], expires[MSD_INSTANT_TEXT];
	json_t *files = json_array();

	for (uint32_t i = 0; i < m->n_files; i++) {
		if (json_array_append_new(files, file_json(&m->files[i])) != 0)
			out->bad = true;
	}
	json_t *root = json_pack(
		"{s:s, s:I, s:s, s:s*, s:{s:s, s:s*, s:s*}, s:o}", "name", m->name,
		"version", (json_int_t)m->version, "created",
		msd_instant_format(m->created_s, created), "expires",
		m->expires_s > 0 ? msd_instant_format(m->expires_s, expires) : NULL,
		"platform", "arch", m->arch, "device",
		m->device[0] != '\0' ? m->device : NULL, "capability",
		m->capability[0] != '\0' ? m->capability : NULL, "files", files);
	if (root == NULL ||
	    json_dump_callback(root, put_chunk, out, JSON_INDENT(2)) != 0)
		out->bad = true;
	json_decref(root);
	msd_buf_put(out, "\n", 1);
}
