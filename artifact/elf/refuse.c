/*
 * Error texts for files that are not shared libraries: their type, detected by the
 * first bytes, and a solution. Users often pass other outputs of their compiler, and
 * "not an ELF file" would not help them.
 */
#include <elf.h>
#include <string.h>

#include "artifact/elf/foreign.h"
#include "artifact/elf/private.h"

#define TAR_BLOCK 512u
#define TAR_NAME_BYTES 100u
#define TAR_SIZE_AT 124u
#define TAR_SIZE_BYTES 12u
#define TAR_SUM_AT 148u
#define TAR_SUM_BYTES 8u
#define TAR_TYPE_AT 156u

static bool is_named(const char *name, size_t n, const char *wanted)
{
	return n == strlen(wanted) && memcmp(name, wanted, n) == 0;
}

/* Linker inputs. */
static bool is_piece(const char *name, size_t n)
{
	return n > 2 && name[n - 2] == '.' &&
	       (name[n - 1] == 'o' || name[n - 1] == 'c');
}

/* Members of tvmc's packages. */
static bool is_packaged(const char *name, size_t n)
{
	return is_named(name, n, "mod.so") || is_named(name, n, "lib.so") ||
	       is_named(name, n, "mod.tar") || is_named(name, n, "lib.tar");
}

/* Octal field of a tar header; SIZE_MAX if it is invalid. */
static size_t tar_octal(const uint8_t *field, size_t bytes)
{
	size_t n = 0;
	size_t i = 0;

	while (i < bytes && field[i] == ' ')
		i++;
	for (; i < bytes && field[i] != '\0' && field[i] != ' '; i++) {
		if (field[i] < '0' || field[i] > '7')
			return SIZE_MAX;
		n = n * 8 + (size_t)(field[i] - '0');
	}
	return n;
}

/* Check the header's checksum: the oldest form, which TVM also writes, has no magic. */
static bool is_tar(struct msd_span image)
{
	size_t sum = 0;

	if (image.n < TAR_BLOCK || image.p[0] == '\0')
		return false;
	for (size_t i = 0; i < TAR_BLOCK; i++) {
		bool in_sum = i >= TAR_SUM_AT && i < TAR_SUM_AT + TAR_SUM_BYTES;

		sum += in_sum ? ' ' : image.p[i];
	}
	return sum == tar_octal(image.p + TAR_SUM_AT, TAR_SUM_BYTES);
}

struct listing {
	bool is_model; /* linking alone loses its graph */
	bool is_package;
	bool has_pieces;
	bool is_whole; /* ends with an empty block after an entry */
};

static void look(struct listing *l, const char *name, size_t n)
{
	if (n > 2 && name[0] == '.' && name[1] == '/') {
		name += 2;
		n -= 2;
	}
	l->is_model |= is_named(name, n, "metadata.json");
	l->is_package |= is_packaged(name, n);
	l->has_pieces |= is_piece(name, n);
}

static struct listing list_members(struct msd_span image)
{
	struct listing ret = {0};

	while (is_tar(image)) {
		const char *name = (const char *)image.p;
		size_t bytes = tar_octal(image.p + TAR_SIZE_AT, TAR_SIZE_BYTES);

		if (image.p[TAR_TYPE_AT] != '5')
			look(&ret, name, strnlen(name, TAR_NAME_BYTES));
		if (bytes > image.n - TAR_BLOCK)
			return ret;
		bytes += TAR_BLOCK + (TAR_BLOCK - bytes % TAR_BLOCK) % TAR_BLOCK;
		if (bytes > image.n)
			return ret;
		image.p += bytes;
		image.n -= bytes;
	}
	ret.is_whole = image.n >= TAR_BLOCK && image.p[0] == '\0';
	return ret;
}

static msd_err refuse_tar(struct msd_span image, struct msd_diag *d)
{
	const struct listing listing = list_members(image);

	if (!listing.is_whole) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "a tar archive that is damaged or cut off: its %zu "
				    "bytes have no end marker",
				    image.n);
	}
	if (listing.is_model) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a model library archive; make a library of it: "
				    "modser convert NAME.tar -o NAME.so");
	}
	if (listing.is_package) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a package of tvmc; `modser load NAME FILE` takes "
				    "it apart; to do it by hand: tar xf NAME.tar, and "
				    "load mod.so (or lib.so) with the graph mod.json "
				    "and the parameters mod.params");
	}
	if (listing.has_pieces) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"an archive of code that is not linked; make a "
			"library of it: modser convert NAME.tar -o NAME.so");
	}
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "a tar archive without a library, objects or C sources, as "
			    "TVM exports them");
}

msd_err msd_elf_refuse(struct msd_span image, struct msd_diag *d)
{
	if (image.n == 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "the file is empty; expected a shared library");
	}
	if (is_tar(image))
		return refuse_tar(image, d);
	if (msd_span_begins(image,
			    "\x1f\x8b")) { /* TVM's .tar files are written like this */
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"a compressed archive; `modser load NAME FILE` takes a "
			"package of tvmc, and of code that is not linked makes a "
			"library, as modser convert NAME.tar -o NAME.so does");
	}
	if (msd_span_begins(image, "!<arch>\n")) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a static archive; link it: cc -shared -o NAME.so "
				    "-Wl,--whole-archive NAME.a");
	}
	const struct msd_foreign *foreign = msd_foreign_find(image);
	if (foreign != NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "%s; %s", foreign->title,
				    foreign->advice);
	}
	if (!msd_span_begins(image, ELFMAG)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "not an ELF file; expected a shared library");
	}
	if (image.n < sizeof(Elf64_Ehdr)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "truncated: %zu bytes do not hold the ELF header",
				    image.n);
	}
	switch (msd_le16(image.p + offsetof(Elf64_Ehdr, e_type))) {
	case ET_REL:
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "an object file that is not linked; make a library "
				    "of it: modser convert NAME.o -o NAME.so");
	case ET_EXEC:
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "an executable; expected a shared library");
	default:
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "an ELF file, but not a shared library");
	}
}
