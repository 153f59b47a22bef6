/*
 * unpack: splits a library's modules into files.
 *
 * Happy path: the import tree is read, and its weights are moved out if
 * --split-params is given. The manifest and the files that it names are made.
 * Everything is written to the folder together with a copy of the library, and
 * listed.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "artifact/json.h"
#include "artifact/mlf/archive.h"
#include "client/cli/model/split.h"
#include "client/cli/values/file.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "pack/manifest.h"

#define LIBRARY_NAME "library.so"

static msd_err write_pieces(const char *dir, const struct msd_pieces *pieces,
			    struct msd_diag *d)
{
	char path[MSD_PATH_BYTES];
	msd_err err = MSD_OK;

	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return msd_diag_set(d, MSD_IO, "%s: %s", dir, strerror(errno));
	for (size_t i = 0; i < pieces->n && err == MSD_OK; i++) {
		err = msd_file_join(dir, pieces->piece[i].name, path, d);
		if (err == MSD_OK)
			err = msd_file_write(path, &pieces->piece[i].bytes, 1, d);
	}
	return err;
}

static msd_err unpack(const struct msd_cli *cli, struct msd_span file,
		      struct msd_pieces *pieces, struct msd_diag *d)
{
	struct msd_elf elf = {0};
	struct msd_tree tree = {0};
	struct msd_split split = {0};
	enum msd_era era = MSD_ERA_NONE;
	msd_err err = msd_elf_read(file, &elf, d);

	if (err == MSD_OK) {
		era = msd_era_of(&elf);
		err = msd_tree_read_library(&elf, era, &tree, d);
	}
	if (err != MSD_OK)
		err = msd_diag_wrap(d, err, "%s", cli->words[0]);
	if (err == MSD_OK) {
		if (cli->split != NULL) {
			err = msd_split_to_file(&tree, era, cli->split_names,
						cli->split, &split, d);
		}
		if (err == MSD_OK) {
			err = msd_manifest_write(&tree, era, LIBRARY_NAME, pieces, d);
			if (err != MSD_OK)
				err = msd_diag_wrap(d, err, "%s", cli->words[0]);
		}
	}
	if (err == MSD_OK)
		err = msd_pieces_add(pieces, "", LIBRARY_NAME, file, d);
	if (err == MSD_OK)
		err = write_pieces(cli->dir, pieces, d);
	msd_tree_finish(&tree);
	msd_split_finish(&split);
	msd_elf_finish(&elf);
	return err;
}

static void put_pieces_json(const struct msd_pieces *pieces, struct msd_buf *out)
{
	json_t *files = json_array();

	for (size_t i = 0; i < pieces->n; i++) {
		msd_json_add(&files,
			     json_pack("{s:o,s:I}", "name",
				       msd_json_string(pieces->piece[i].name), "bytes",
				       (json_int_t)pieces->piece[i].bytes.n));
	}
	msd_json_put(out, json_pack("{s:o}", "files", files), 0);
	msd_buf_put_u8(out, '\n');
}

static void print_pieces(const struct msd_cli *cli, const struct msd_pieces *pieces)
{
	struct msd_buf out = {0};

	if (cli->json)
		put_pieces_json(pieces, &out);
	for (size_t i = 0; i < pieces->n && !cli->json; i++) {
		msd_buf_printf(&out, "%12zu  %s/%s\n", pieces->piece[i].bytes.n,
			       cli->dir, pieces->piece[i].name);
	}
	msd_print_flush(&out);
}

enum msd_exit msd_verb_unpack(const struct msd_cli *cli)
{
	struct msd_buf file = {0};
	struct msd_pieces pieces = {0};
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;

	if (cli->dir == NULL) {
		return msd_report_usage("modser unpack FILE -C DIR",
					"unpack needs a folder: -C DIR");
	}
	msd_err err = msd_file_read(cli->words[0], &file, &d);
	if (err == MSD_OK) {
		err = msd_archive_check_whole(cli->words[0],
					      (struct msd_span){file.p, file.n}, &d);
	}
	if (err == MSD_OK)
		err = unpack(cli, (struct msd_span){file.p, file.n}, &pieces, &d);
	if (err == MSD_OK) {
		print_pieces(cli, &pieces);
	} else {
		code = msd_report_pack(&d);
	}
	msd_pieces_finish(&pieces);
	msd_buf_finish(&file);
	msd_diag_finish(&d);
	return code;
}
