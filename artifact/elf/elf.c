/*
 * Parse an image into symbols: the identification (refuse.c explains other file
 * types), the program headers, which map file ranges to memory, the end check, and
 * then the dynamic section (dynamic.c). Every address goes through msd_elf_at() and
 * every offset through msd_elf_bytes().
 *
 * It uses no ELF library: docs/internals/decisions.md explains why.
 */
#include "artifact/elf/elf.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/elf/private.h"

/* The header's fields are read by offset: the image need not be aligned. */
#define EHDR_BYTES sizeof(Elf64_Ehdr)
#define PHDR_BYTES sizeof(Elf64_Phdr)

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#define HOST_TARGET "llvm -mtriple=x86_64-linux-gnu"
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#define HOST_TARGET "llvm -mtriple=aarch64-linux-gnu"
#elif defined(__riscv)
#define HOST_MACHINE EM_RISCV
#define HOST_TARGET "llvm -mtriple=riscv64-linux-gnu"
#else
#define HOST_MACHINE EM_NONE
#define HOST_TARGET "this machine"
#endif

static const struct machine_name {
	uint16_t machine;
	const char *name;
} machine_names[] = {
	{EM_386, "i386"},        {EM_ARM, "arm"},       {EM_X86_64, "x86-64"},
	{EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv"},   {EM_PPC64, "ppc64"},
	{EM_MIPS, "mips"},       {EM_S390, "s390"},     {EM_LOONGARCH, "loongarch"},
	{EM_QDSP6, "hexagon"},   {EM_AMDGPU, "amdgpu"}, {EM_CUDA, "cuda"},
};

const char *msd_elf_machine_format(uint16_t machine,
				   char buf[static MSD_MACHINE_NAME_MAX])
{
	for (size_t i = 0; i < sizeof(machine_names) / sizeof(*machine_names); i++) {
		if (machine_names[i].machine == machine) {
			(void)snprintf(buf, MSD_MACHINE_NAME_MAX, "%s",
				       machine_names[i].name);
			return buf;
		}
	}
	(void)snprintf(buf, MSD_MACHINE_NAME_MAX, "machine %u", machine);
	return buf;
}

bool msd_elf_bytes(struct msd_span image, uint64_t offset, uint64_t n,
		   struct msd_span *ret)
{
	if (offset > image.n || n > image.n - offset)
		return false;
	*ret = (struct msd_span){image.p + offset, (size_t)n};
	return true;
}

bool msd_elf_at(const struct msd_elf *elf, uint64_t address, uint64_t n,
		struct msd_span *ret)
{
	for (size_t i = 0; i < elf->n_loads; i++) {
		const struct msd_elf_load *l = &elf->loads[i];

		if (address < l->address || address - l->address > l->file_bytes)
			continue;
		uint64_t in = address - l->address;
		if (n <= l->file_bytes - in)
			return msd_elf_bytes(elf->image, l->offset + in, n, ret);
	}
	return false;
}

static msd_err check_ident(struct msd_span image, struct msd_diag *d)
{
	if (image.n < EI_NIDENT || memcmp(image.p, ELFMAG, SELFMAG) != 0)
		return msd_elf_refuse(image, d);
	if (image.p[EI_CLASS] != ELFCLASS64) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a 32-bit ELF file; export it again for a 64-bit "
				    "machine, such as " HOST_TARGET);
	}
	if (image.p[EI_DATA] != ELFDATA2LSB) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a big-endian ELF file; export it again for a "
				    "little-endian machine, such as " HOST_TARGET);
	}
	if (image.n < EHDR_BYTES) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "truncated: %zu bytes do not hold the ELF header",
				    image.n);
	}
	if (msd_le16(image.p + offsetof(Elf64_Ehdr, e_type)) != ET_DYN)
		return msd_elf_refuse(image, d);
	return MSD_OK;
}

/* Take one program header; @dynamic is written if it is PT_DYNAMIC. */
static msd_err take_phdr(struct msd_elf *elf, const uint8_t *ph,
			 struct msd_elf_dynamic *dynamic, struct msd_diag *d)
{
	uint32_t type = msd_le32(ph + offsetof(Elf64_Phdr, p_type));
	uint64_t offset = msd_le64(ph + offsetof(Elf64_Phdr, p_offset));
	uint64_t bytes = msd_le64(ph + offsetof(Elf64_Phdr, p_filesz));
	struct msd_span unused;

	if (type != PT_LOAD && type != PT_DYNAMIC)
		return MSD_OK;
	if (!msd_elf_bytes(elf->image, offset, bytes, &unused)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "truncated: a segment of %" PRIu64
				    " bytes at offset %" PRIu64
				    " does not lie in the file's %zu bytes",
				    bytes, offset, elf->image.n);
	}
	if (type == PT_DYNAMIC) {
		*dynamic = (struct msd_elf_dynamic){offset, bytes};
	} else {
		elf->loads[elf->n_loads++] = (struct msd_elf_load){
			.address = msd_le64(ph + offsetof(Elf64_Phdr, p_vaddr)),
			.offset = offset,
			.file_bytes = bytes,
		};
	}
	return MSD_OK;
}

static msd_err read_phdrs(struct msd_elf *elf, struct msd_elf_dynamic *dynamic,
			  struct msd_diag *d)
{
	const uint8_t *eh = elf->image.p;
	uint64_t at = msd_le64(eh + offsetof(Elf64_Ehdr, e_phoff));
	uint16_t each = msd_le16(eh + offsetof(Elf64_Ehdr, e_phentsize));
	uint16_t n = msd_le16(eh + offsetof(Elf64_Ehdr, e_phnum));
	struct msd_span table;

	if (each != PHDR_BYTES ||
	    !msd_elf_bytes(elf->image, at, (uint64_t)each * n, &table)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "damaged ELF: %u program headers of %u bytes at "
				    "offset %" PRIu64 " are not in the file",
				    n, each, at);
	}
	elf->loads = calloc(n > 0 ? n : 1u, sizeof(*elf->loads));
	if (elf->loads == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory reading the ELF file");
	for (size_t i = 0; i < n; i++) {
		msd_err err = take_phdr(elf, table.p + i * each, dynamic, d);
		if (err != MSD_OK)
			return err;
	}
	return MSD_OK;
}

/* The parser does not need the section headers. But linkers write them last, so a
 * file that ends before them is truncated. */
static msd_err check_end(struct msd_span image, struct msd_diag *d)
{
	uint64_t at = msd_le64(image.p + offsetof(Elf64_Ehdr, e_shoff));
	uint16_t each = msd_le16(image.p + offsetof(Elf64_Ehdr, e_shentsize));
	uint16_t n = msd_le16(image.p + offsetof(Elf64_Ehdr, e_shnum));
	struct msd_span table;

	if (at == 0 || msd_elf_bytes(image, at, (uint64_t)each * n, &table))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "truncated: the file has %zu bytes and its section headers "
			    "end at %" PRIu64,
			    image.n, at + (uint64_t)each * n);
}

msd_err msd_elf_read(struct msd_span image, struct msd_elf *ret, struct msd_diag *d)
{
	struct msd_elf elf = {.image = image};
	struct msd_elf_dynamic dynamic = {0};
	msd_err err = check_ident(image, d);

	if (err != MSD_OK)
		return err;
	elf.machine = msd_le16(image.p + offsetof(Elf64_Ehdr, e_machine));
	err = read_phdrs(&elf, &dynamic, d);
	if (err == MSD_OK)
		err = check_end(image, d);
	if (err == MSD_OK && dynamic.bytes == 0) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "an ELF file without a dynamic section; "
				   "expected a shared library");
	}
	if (err == MSD_OK)
		err = msd_elf_read_dynamic(&elf, dynamic, d);
	if (err != MSD_OK) {
		msd_elf_finish(&elf);
		return err;
	}
	*ret = elf;
	return MSD_OK;
}

void msd_elf_finish(struct msd_elf *elf)
{
	if (elf == NULL)
		return;
	free(elf->syms);
	free(elf->needed);
	free(elf->loads);
	*elf = (struct msd_elf){0};
}

uint16_t msd_elf_host_machine(void)
{
	return HOST_MACHINE;
}

msd_err msd_elf_check_host(const struct msd_elf *elf, struct msd_diag *d)
{
	char theirs[MSD_MACHINE_NAME_MAX];
	char ours[MSD_MACHINE_NAME_MAX];

	if (elf->machine == HOST_MACHINE)
		return MSD_OK;
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "the library is for %s, this machine is %s: load it on "
			    "such a machine, or export it again for " HOST_TARGET,
			    msd_elf_machine_format(elf->machine, theirs),
			    msd_elf_machine_format(HOST_MACHINE, ours));
}

bool msd_elf_sym_is_wanted(const struct msd_elf_sym *sym)
{
	return !sym->defined && !sym->weak;
}

const struct msd_elf_sym *msd_elf_find(const struct msd_elf *elf, const char *name)
{
	size_t low = 0;
	size_t high = elf->n_syms;

	while (low < high) { /* lower bound of the name */
		size_t mid = low + (high - low) / 2;

		if (strcmp(elf->syms[mid].name, name) < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	if (low == elf->n_syms || strcmp(elf->syms[low].name, name) != 0)
		return NULL;
	return elf->syms[low].defined ? &elf->syms[low] : NULL;
}
