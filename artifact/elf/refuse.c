/*
 * Words for files that are not shared libraries: what they are, told by their first
 * bytes, and what to do. People hand over what their compiler left beside the library,
 * and "not an ELF file" would not help them.
 */
#include <elf.h>
#include <string.h>

#include "artifact/elf/private.h"

#define TAR_BLOCK 512u
#define TAR_NAME_BYTES 100u
#define TAR_SIZE_AT 124u
#define TAR_SIZE_BYTES 12u
#define TAR_SUM_AT 148u
#define TAR_SUM_BYTES 8u
#define TAR_TYPE_AT 156u

static bool starts_with(struct msd_span image, const char *magic)
{
	size_t n = strlen(magic);

	return n <= image.n && memcmp(image.p, magic, n) == 0;
}

static bool is_object_name(const char *name, size_t n)
{
	if (n < 3 || name[n - 2] != '.' || (name[n - 1] != 'o' && name[n - 1] != 'c'))
		return false;
	for (size_t i = 0; i < n; i++) { /* it goes into a shell command */
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			   "0123456789._-/+",
			   name[i]) == NULL)
			return false;
	}
	return name[0] != '-';
}

/* Octal field of a tar header; SIZE_MAX when it is not one. */
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

/* By the header's checksum: the oldest form, which TVM writes too, has no magic. */
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
	bool is_model; /* linking alone would lose its graph */
	bool is_whole; /* it ends with an empty block, behind an entry */
};

/* " lib0.o devc.o": the members of a tar archive that a linker takes. */
static struct listing list_objects(struct msd_span image, struct msd_buf *out)
{
	static const char description[] = "metadata.json"; /* of a model library */
	struct listing ret = {0};

	while (is_tar(image)) {
		const char *name = (const char *)image.p;
		size_t len = strnlen(name, TAR_NAME_BYTES);
		size_t bytes = tar_octal(image.p + TAR_SIZE_AT, TAR_SIZE_BYTES);

		if (len > 2 && name[0] == '.' && name[1] == '/') {
			name += 2;
			len -= 2;
		}
		ret.is_model |= len == sizeof(description) - 1 &&
				memcmp(name, description, len) == 0;
		if (image.p[TAR_TYPE_AT] != '5' && is_object_name(name, len) &&
		    out->n + len < 1024)
			msd_buf_printf(out, " %.*s", (int)len, name);
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
	struct msd_buf objects = {0};

	const struct listing listing = list_objects(image, &objects);
	if (!listing.is_whole) {
		msd_buf_finish(&objects);
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "a tar archive that is damaged or cut off: its %zu "
				    "bytes have no end marker",
				    image.n);
	}
	if (listing.is_model) {
		msd_buf_finish(&objects);
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a model library archive; make a library of it: "
				    "modser convert NAME.tar -o NAME.so");
	}
	if (objects.n == 0 && !objects.bad)
		msd_buf_printf(&objects, " lib0.o devc.o");
	msd_err err = msd_diag_set(d, MSD_UNSUPPORTED,
				   "a tar archive of unlinked objects; link them: "
				   "tar xf NAME.tar && cc -shared -fPIC -o NAME.so%.*s",
				   (int)objects.n, (const char *)objects.p);
	msd_buf_finish(&objects);
	return err;
}

/* What other systems load. */
static const struct format {
	uint8_t magic[4];
	uint8_t n;
	const char *title;
} formats[] = {
	{{0xcf, 0xfa, 0xed, 0xfe}, 4, "a Mach-O file, of macOS or iOS"},
	{{0xce, 0xfa, 0xed, 0xfe}, 4, "a 32-bit Mach-O file, of macOS or iOS"},
	{{0xfe, 0xed, 0xfa, 0xcf}, 4, "a big-endian Mach-O file, of macOS"},
	{{0xca, 0xfe, 0xba, 0xbe}, 4, "a universal Mach-O file, of macOS or iOS"},
	{{'M', 'Z'}, 2, "a PE file, of Windows (.dll, .exe)"},
	{{'\0', 'a', 's', 'm'}, 4, "a WebAssembly file"},
};

static const struct format *find_format(struct msd_span image)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (image.n >= formats[i].n &&
		    memcmp(image.p, formats[i].magic, formats[i].n) == 0)
			return &formats[i];
	}
	return NULL;
}

msd_err msd_elf_refuse(struct msd_span image, struct msd_diag *d)
{
	if (image.n == 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "the file is empty; expected a shared library");
	}
	if (is_tar(image))
		return refuse_tar(image, d);
	if (starts_with(image, "\x1f\x8b")) { /* how TVM writes its .tar */
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"a compressed archive of unlinked objects; link them: "
			"mkdir NAME && tar xzf NAME.tar -C NAME && "
			"cc -shared -o NAME.so -fPIC NAME/*.[co]");
	}
	if (starts_with(image, "!<arch>\n")) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a static archive; link it: cc -shared -o NAME.so "
				    "-Wl,--whole-archive NAME.a");
	}
	const struct format *format = find_format(image);
	if (format != NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "%s; libraries here are those of Linux: export it "
				    "again for a target such as llvm -mtriple="
				    "x86_64-linux-gnu, with a linker for it",
				    format->title);
	}
	if (!starts_with(image, ELFMAG)) {
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
				    "an unlinked object file; link it: "
				    "cc -shared -o NAME.so NAME.o");
	case ET_EXEC:
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "an executable; expected a shared library");
	default:
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "an ELF file, but not a shared library");
	}
}
