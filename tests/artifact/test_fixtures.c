/*
 * Real artifacts against the listings that lie beside them, which two independent
 * decoders wrote: NAME.dump.txt (0.22 and later), NAME.so.mblob.txt and
 * NAME.so.tree.txt (0.8).
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "artifact/inspect/inspect.h"
#include "artifact/relax/image.h"
#include "tests/artifact/fixture.h"

/* A library taken apart; finish with parts_finish(). */
struct parts {
	struct bw file;
	struct msd_elf elf;
	enum msd_era era;
	struct msd_tree tree;
};

static struct parts parts_read(const char *path)
{
	struct parts p = {.file = fixture_read(path)};
	struct msd_diag d = {0};

	cr_assert_eq(msd_elf_read(bw_span(&p.file), &p.elf, &d), MSD_OK, "%s: %s", path,
		     msd_diag_text(&d));
	p.era = msd_era_of(&p.elf);
	cr_assert_eq(msd_tree_read_library(&p.elf, p.era, &p.tree, &d), MSD_OK,
		     "%s: %s", path, msd_diag_text(&d));
	return p;
}

static void parts_finish(struct parts *p)
{
	msd_tree_finish(&p->tree);
	msd_elf_finish(&p->elf);
	bw_free(&p->file);
}

/* The listing NAME@suffix that belongs to NAME.so, as a string; false when there is
 * none. */
static bool read_listing(const char *path, const char *suffix, struct bw *ret)
{
	char listing[4096];
	int stem = (int)(strlen(path) - strlen(".so"));

	(void)snprintf(listing, sizeof(listing), "%.*s%s", stem, path, suffix);
	if (access(listing, R_OK) != 0)
		return false;
	*ret = fixture_read(listing);
	bw_u8(ret, 0);
	return true;
}

static void expect_line(const struct bw *listing, struct msd_buf *line,
			const char *path)
{
	msd_buf_put_u8(line, '\0');
	cr_expect(strstr((char *)listing->p, (char *)line->p) != NULL,
		  "%s: its listing has no \"%s\"", path, (char *)line->p);
	line->n = 0;
}

/* "  [1] kind=cuda payload=4740 imports=[]" */
static void put_module(struct msd_buf *line, const struct msd_tree *tree, uint32_t i)
{
	const struct msd_tree_module *m = &tree->modules[i];
	bool is_library = msd_span_is(m->kind, "_lib");

	msd_buf_printf(line, "  [%u] kind=%.*s payload=", i, (int)m->kind.n,
		       (const char *)m->kind.p);
	if (is_library) {
		msd_buf_printf(line, "None");
	} else {
		msd_buf_printf(line, "%zu", m->payload.n);
	}
	msd_buf_printf(line, " imports=[");
	for (uint32_t k = 0; k < m->n_imports; k++)
		msd_buf_printf(line, "%s%u", k > 0 ? ", " : "", m->imports[k]);
	msd_buf_printf(line, "]\n");
}

static void put_arg(struct msd_buf *line, int64_t word)
{
	int64_t value = msd_relax_arg_value(word);
	enum msd_relax_arg kind = msd_relax_arg_kind(word);

	if (kind == MSD_RELAX_REG && value == MSD_RELAX_VOID_REG) {
		msd_buf_printf(line, "void");
	} else if (kind == MSD_RELAX_REG && value == MSD_RELAX_VM_REG) {
		msd_buf_printf(line, "vm");
	} else {
		msd_buf_printf(line, "%c%" PRId64, "ricf"[kind], value);
	}
}

/* "   3 call add (r0, c2) -> r4" */
static void put_instr(struct msd_buf *line, const struct msd_relax_image *img,
		      size_t pc)
{
	const int64_t *w = img->words + img->offsets[pc];

	msd_buf_printf(line, "    %4zu ", pc);
	if (w[0] == MSD_RELAX_RET) {
		msd_buf_printf(line, "ret %" PRId64, w[1]);
	} else if (w[0] == MSD_RELAX_GOTO) {
		msd_buf_printf(line, "goto %+" PRId64, w[1]);
	} else if (w[0] == MSD_RELAX_IF) {
		msd_buf_printf(line, "if r%" PRId64 " else %+" PRId64, w[1], w[2]);
	} else {
		const struct msd_span name = img->funcs[w[2]].name;

		msd_buf_printf(line, "call %.*s (", (int)name.n, (const char *)name.p);
		for (int64_t i = 0; i < w[3]; i++) {
			msd_buf_printf(line, "%s", i > 0 ? ", " : "");
			put_arg(line, w[4 + i]);
		}
		msd_buf_printf(line, ") -> ");
		if (w[1] == MSD_RELAX_VOID_REG) {
			msd_buf_printf(line, "void");
		} else {
			msd_buf_printf(line, "r%" PRId64, w[1]);
		}
	}
	msd_buf_printf(line, "\n");
}

static void expect_program(const struct parts *p, const struct msd_tree_module *m,
			   const struct bw *listing, const char *path)
{
	struct msd_relax_image img = {0};
	struct msd_buf line = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_relax_image_read(m->payload, p->era, &img, &d), MSD_OK,
		     "%s: %s", path, msd_diag_text(&d));
	for (size_t pc = 0; pc < img.n_instrs; pc++) {
		put_instr(&line, &img, pc);
		expect_line(listing, &line, path);
	}
	msd_buf_printf(&line, "    const[%zu]", img.n_consts - 1);
	if (img.n_consts > 0)
		expect_line(listing, &line, path);
	msd_buf_finish(&line);
	msd_relax_image_finish(&img);
}

static void expect_ffi_listing(const char *path)
{
	struct parts p = parts_read(path);
	struct msd_buf line = {0};
	struct bw listing = {0};

	cr_expect_eq(p.era, MSD_ERA_FFI, "%s", path);
	if (p.tree.layout == MSD_BLOB_FRAMED &&
	    read_listing(path, ".dump.txt", &listing)) {
		for (uint32_t i = 0; i < p.tree.n_modules; i++) {
			const struct msd_tree_module *m = &p.tree.modules[i];

			put_module(&line, &p.tree, i);
			expect_line(&listing, &line, path);
			if (msd_span_is(m->kind, "relax.VMExecutable"))
				expect_program(&p, m, &listing, path);
		}
	}
	msd_buf_finish(&line);
	bw_free(&listing);
	parts_finish(&p);
}

Test(fixtures, libraries_of_the_ffi_era_are_what_their_listings_say)
{
	(void)fixture_each("tvm-0.27", ".so", expect_ffi_listing);
}

/* Every border of the stream: "+0x1c [1] key='opencl'" is where entry 1 begins. */
static void expect_classic_listing(const char *path)
{
	struct parts p = parts_read(path);
	struct msd_buf line = {0};
	struct bw listing = {0};

	cr_expect_eq(p.era, MSD_ERA_CLASSIC, "%s", path);
	if (p.tree.has_import_tree && read_listing(path, ".so.mblob.txt", &listing)) {
		for (uint32_t i = 0; i < p.tree.n_modules; i++) {
			const struct msd_tree_module *m = &p.tree.modules[i];
			size_t at = (size_t)(m->payload.p - p.tree.blob.p) - m->kind.n;

			if (m->payload.p != NULL) /* the size prefix is counted, too */
				msd_buf_printf(&line, "+%#zx ", at);
			msd_buf_printf(&line, "[%u] key='%.*s'", i, (int)m->kind.n,
				       (const char *)m->kind.p);
			expect_line(&listing, &line, path);
		}
	}
	msd_buf_finish(&line);
	bw_free(&listing);
	parts_finish(&p);
}

static void expect_listing_unless_bad(const char *path)
{
	if (strstr(path, "/bad_") == NULL)
		expect_classic_listing(path);
}

Test(fixtures, libraries_of_the_classic_era_are_what_their_listings_say)
{
	(void)fixture_each("tvm-0.8", ".so", expect_listing_unless_bad);
}

/* Indentation and kinds, as TVM itself prints a tree that it loaded. */
static void put_tree(struct msd_buf *out, const struct msd_tree *tree, uint32_t i,
		     int level)
{
	const struct msd_tree_module *m = &tree->modules[i];
	bool is_library = msd_span_is(m->kind, "_lib");

	msd_buf_printf(out, "%*s%.*s\n", 2 * level, "", is_library ? 7 : (int)m->kind.n,
		       is_library ? "library" : (const char *)m->kind.p);
	for (uint32_t k = 0; k < m->n_imports; k++)
		put_tree(out, tree, m->imports[k], level + 1);
}

static void expect_tree_as_printed(const char *path)
{
	struct bw listing = {0};
	struct msd_buf drawn = {0};

	if (!read_listing(path, ".so.tree.txt", &listing))
		return;
	struct parts p = parts_read(path);
	put_tree(&drawn, &p.tree, 0, 0);
	expect_line(&listing, &drawn, path);
	msd_buf_finish(&drawn);
	parts_finish(&p);
	bw_free(&listing);
}

Test(fixtures, import_trees_are_those_that_tvm_prints)
{
	(void)fixture_each("tvm-0.8", ".so", expect_tree_as_printed);
}

static void expect_no_damage(const char *path)
{
	struct bw file = fixture_read(path);
	struct msd_inspect *in = NULL;

	if (strstr(path, "/bad_") == NULL) {
		cr_assert_eq(
			msd_inspect_read(bw_span(&file), MSD_ERA_UNSAID, &in, NULL),
			MSD_OK);
		for (uint32_t i = 0; i < in->n_modules; i++) {
			const struct msd_payload_info *info = &in->modules[i].info;

			for (size_t k = 0; k < info->n_facts; k++) {
				cr_expect_str_neq(info->facts[k].key, "damaged",
						  "%s: %s", path, info->facts[k].value);
			}
		}
	}
	msd_inspect_destroy(in);
	bw_free(&file);
}

Test(fixtures, every_payload_can_be_described)
{
	(void)fixture_each("tvm-0.8", ".so", expect_no_damage);
	(void)fixture_each("tvm-0.27", ".so", expect_no_damage);
}

static void expect_bad(const char *path)
{
	struct bw file = fixture_read(path);
	struct msd_inspect *in = NULL;
	struct msd_diag d = {0};

	if (strstr(path, "/bad_") != NULL) {
		msd_err err = msd_inspect_read(bw_span(&file), MSD_ERA_UNSAID, &in, &d);

		/* That of an unknown kind is shown, and says so; it is not loaded. */
		if (strstr(path, "/bad_unknown_key") != NULL) {
			cr_assert_eq(err, MSD_OK, "%s", path);
			cr_expect_str_eq(in->modules[1].info.facts[0].key,
					 "unsupported");
		} else {
			cr_expect(err == MSD_BAD_ARTIFACT || err == MSD_UNSUPPORTED,
				  "%s", path);
			cr_expect_gt(d.len, 20, "%s: \"%s\"", path, msd_diag_text(&d));
		}
	}
	msd_inspect_destroy(in);
	msd_diag_finish(&d);
	bw_free(&file);
}

Test(fixtures, damaged_libraries_are_refused_in_words)
{
	(void)fixture_each("tvm-0.8", ".so", expect_bad);
}

static void expect_link_command(const char *path)
{
	struct bw file = fixture_read(path);
	struct msd_inspect *in = NULL;
	struct msd_diag d = {0};

	cr_expect_eq(msd_inspect_read(bw_span(&file), MSD_ERA_UNSAID, &in, &d),
		     MSD_UNSUPPORTED, "%s", path);
	cr_expect(strstr(msd_diag_text(&d), "modser convert") != NULL, "%s: %s", path,
		  msd_diag_text(&d));
	msd_diag_finish(&d);
	bw_free(&file);
}

Test(fixtures, unlinked_objects_are_refused_with_the_command_that_links_them)
{
	(void)fixture_each("tvm-0.8", ".o", expect_link_command);
	(void)fixture_each("tvm-0.8", ".tar", expect_link_command);
	(void)fixture_each("tvm-0.27", ".tar", expect_link_command);
}
