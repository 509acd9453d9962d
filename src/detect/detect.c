/* detect.c - the table of kinds of input other than text. */
#include "detect/detect.h"

#include "decode/decode.h"

#include <string.h>

const unsigned char *tide_find_bytes(const unsigned char *bytes, size_t size,
                                     const char *part)
{
    return memmem(bytes, size, part, strlen(part));
}

bool tide_is_binary(const unsigned char *bytes, size_t size)
{
    enum { LONGEST_CHARACTER = 4 };
    for (size_t at = 0, length; at < size; at += length) {
        if (tide_is_control(bytes[at]))
            return true;
        length = tide_utf8_length(bytes + at, size - at);
        if (length == 0)
            return size - at >= LONGEST_CHARACTER || bytes[at] < 0xc2 ||
                   bytes[at] > 0xf4;
    }
    return false;
}

/* -- tests ------------------------------------------------------------------------- */

static tide_match starts_with(tide_head head, const void *magic, size_t size)
{
    size_t common = head.size < size ? head.size : size;
    if (memcmp(head.bytes, magic, common) != 0)
        return TIDE_NO;
    return common == size ? TIDE_YES : head.whole ? TIDE_NO : TIDE_MAYBE;
}

#define STARTS_WITH(head, magic) starts_with(head, magic, sizeof(magic) - 1)

/* A magic number that text may start with, too, and binary bytes within `reach` bytes
 * behind it. */
static tide_match starts_with_binary(tide_head head, const char *magic, size_t size,
                                     size_t reach)
{
    tide_match evidence = starts_with(head, magic, size);
    if (evidence != TIDE_YES)
        return evidence;
    size_t rest = head.size - size;
    if (tide_is_binary(head.bytes + size, rest < reach ? rest : reach))
        return TIDE_YES;
    return rest >= reach || head.whole ? TIDE_NO : TIDE_MAYBE;
}

/* Any compression level; then the digits of pi, which start a block and happen to be
 * letters, or those of its square root, which end an empty archive. */
static tide_match is_bzip2(tide_head head)
{
    char magic[] = "BZh9\x31\x41\x59\x26\x53\x59",
         empty[] = "BZh9\x17\x72\x45\x38\x50\x90";
    if (head.size > 3 && head.bytes[3] >= '1' && head.bytes[3] <= '9')
        magic[3] = empty[3] = (char)head.bytes[3];
    tide_match evidence = starts_with_binary(head, magic, sizeof magic - 1, 32);
    return evidence == TIDE_NO ? STARTS_WITH(head, empty) : evidence;
}

/* The name of the first file, padded with zeros, and the "ustar" magic. */
static tide_match is_tar(tide_head head)
{
    enum { NAME_SIZE = 100, MAGIC_AT = 257 };
    const unsigned char *zero =
        memchr(head.bytes, 0, head.size < NAME_SIZE ? head.size : NAME_SIZE);
    if (!zero || zero == head.bytes)
        return TIDE_NO;
    for (const unsigned char *at = zero; at < head.bytes + head.size; at++)
        if (at == head.bytes + NAME_SIZE)
            break;
        else if (*at)
            return TIDE_NO;
    if (head.size < MAGIC_AT + 5)
        return head.whole ? TIDE_NO : TIDE_MAYBE;
    return memcmp(head.bytes + MAGIC_AT, "ustar", 5) ? TIDE_NO : TIDE_YES;
}

/* A store (doc/FORMAT.md): a model, or another file, recognized by its sections. */
static tide_match is_store(tide_head head, bool model)
{
    enum { HEADER = TIDE_SIZE(2688, 512) };
    tide_match evidence = STARTS_WITH(head, "\x89TID\r\n\x1a\n");
    if (evidence == TIDE_YES && head.size < HEADER && !head.whole)
        return TIDE_MAYBE;
    size_t size = head.size < HEADER ? head.size : HEADER;
    bool other = tide_find_bytes(head.bytes, size, "history") ||
                 tide_find_bytes(head.bytes, size, "label.network");
    return evidence == TIDE_YES && other == model ? TIDE_NO : evidence;
}

static tide_match is_model(tide_head head)
{
    return is_store(head, true);
}

static tide_match is_other_store(tide_head head)
{
    return is_store(head, false);
}

/* The length of the header, which is below 2^40, and the start of its JSON. */
static tide_match is_safetensors(tide_head head)
{
    static const unsigned char rest[] = {0, 0, 0, '{', '"'};
    enum { AT = 5, SIZE = AT + sizeof rest };
    if (head.size < SIZE)
        return !head.whole && head.size > 0 && head.bytes[head.size - 1] == 0
                   ? TIDE_MAYBE
                   : TIDE_NO;
    return memcmp(head.bytes + AT, rest, sizeof rest) ? TIDE_NO : TIDE_YES;
}

/* A pickle of protocol 2 to 5, and an opcode that starts an object. */
static tide_match is_pickle(tide_head head)
{
    static const char opcodes[] = "\x95}]()c";
    if (head.size < 3)
        return !head.whole && head.size > 0 && head.bytes[0] == 0x80 ? TIDE_MAYBE
                                                                     : TIDE_NO;
    return head.bytes[0] == 0x80 && head.bytes[1] >= 2 && head.bytes[1] <= 5 &&
                   memchr(opcodes, head.bytes[2], sizeof opcodes - 1)
               ? TIDE_YES
               : TIDE_NO;
}

static tide_match is_gensim(tide_head head)
{
    enum { REACH = 512 };
    tide_match evidence = is_pickle(head);
    if (evidence != TIDE_YES)
        return evidence;
    if (tide_find_bytes(head.bytes, head.size < REACH ? head.size : REACH, "gensim"))
        return TIDE_YES;
    return head.size >= REACH || head.whole ? TIDE_NO : TIDE_MAYBE;
}

/* -- the table --------------------------------------------------------------------- */

#define IMPORT "convert it to a model first: wordtide import @ -o NEW.tide"
#define UTF(bits, order, match)                                                        \
    {                                                                                  \
        TIDE_CONTENT_OTHER, "UTF-" bits " text",                                       \
            "iconv -f UTF-" bits order " -t UTF-8", NULL, NULL, .test = match          \
    }
#define AS_TEXT "set parameter \"records\" to \"lines\" to read it as plain text"

/* A kind that is recognized by its first bytes alone. With a reach, text may start with
 * them too, and binary bytes have to follow within that many. */
#define MAGIC(m, distance) .magic = m, .magic_size = sizeof(m) - 1, .reach = distance

/* The first match decides. */
static const tide_kind kinds[] = {
    {TIDE_CONTENT_MODEL, "a wordtide model", NULL,
     "continue training it with wordtide train --resume @", ".tide", .test = is_model},
    {TIDE_CONTENT_OTHER, "a wordtide file that belongs to a model", NULL,
     "name the text or the model instead", NULL, .test = is_other_store},
    {TIDE_CONTENT_OTHER, "data compressed with bzip2", "bzcat", NULL, ".bz2",
     .test = is_bzip2},
    {TIDE_CONTENT_OTHER, "a zip archive", "unzip -p", NULL, ".zip", MAGIC("PK\3\4", 0)},
    {TIDE_CONTENT_OTHER, "a 7-Zip archive", "7z x -so", NULL, ".7z",
     MAGIC("7z\xbc\xaf\x27\x1c", 0)},
    {TIDE_CONTENT_OTHER, "data compressed with lz4", "lz4 -dc", NULL, ".lz4",
     MAGIC("\x04\x22\x4d\x18", 0)},
    {TIDE_CONTENT_OTHER, "a tar archive", "tar -xOf", NULL, ".tar .tgz .tar.gz .tar.xz",
     .test = is_tar},
    {TIDE_CONTENT_OTHER, "a Parquet file", NULL, "export it as text, JSON or CSV",
     ".parquet", MAGIC("PAR1", 16)},
    {TIDE_CONTENT_OTHER, "an Arrow file", NULL, "export it as text, JSON or CSV",
     ".arrow .feather", MAGIC("ARROW1\0\0", 0)},
    {TIDE_CONTENT_OTHER, "a SQLite database", NULL,
     "extract its text: sqlite3 @ 'select ...' | wordtide train -",
     ".sqlite .sqlite3 .db", MAGIC("SQLite format 3\0", 0)},
    {TIDE_CONTENT_OTHER, "a PDF document", NULL,
     "extract its text: pdftotext @ - | wordtide train -", ".pdf", MAGIC("%PDF-", 64)},
    {TIDE_CONTENT_VECTORS, "a NumPy array", NULL, IMPORT, ".npy",
     MAGIC("\x93NUMPY", 0)},
    {TIDE_CONTENT_VECTORS, "a safetensors file", NULL, IMPORT, ".safetensors",
     .test = is_safetensors},
    {TIDE_CONTENT_OTHER, "an HDF5 file", NULL, "export it as text, JSON or CSV",
     ".h5 .hdf5", MAGIC("\x89HDF\r\n\x1a\n", 0)},
    {TIDE_CONTENT_OTHER, "a fastText .bin file (the .vec file has the vectors)", NULL,
     "wordtide import NAME.vec -o NEW.tide", ".bin .ftz",
     MAGIC("\xba\x16\x4f\x2f\x0c\0\0\0", 0)},
    {TIDE_CONTENT_OTHER, "a file in gensim's native format", NULL,
     "write NAME.bin with save_word2vec_format(binary=True), then wordtide import "
     "NAME.bin -o NEW.tide",
     ".model .kv .bin .w2v", .test = is_gensim},
    {TIDE_CONTENT_OTHER, "a pickled Python object", NULL,
     "write it as text, JSON or CSV in Python", ".pkl .pickle", .test = is_pickle},
    {TIDE_CONTENT_VECTORS, "a file of vectors in word2vec's binary format", NULL,
     IMPORT, ".bin", .test = tide_is_word2vec_binary},
    {TIDE_CONTENT_VECTORS, "a file of vectors in word2vec's text format", NULL, IMPORT,
     ".vec", .test = tide_is_word2vec_text},
    {TIDE_CONTENT_VECTORS, "a file of vectors in GloVe's text format", NULL, IMPORT,
     ".vec", .test = tide_is_glove},
    UTF("32", "", tide_is_utf32),
    UTF("32", "LE", tide_is_utf32_little),
    UTF("32", "BE", tide_is_utf32_big),
    UTF("16", "", tide_is_utf16),
    UTF("16", "LE", tide_is_utf16_little),
    UTF("16", "BE", tide_is_utf16_big),
    {TIDE_CONTENT_RECORDS, "JSON", NULL, AS_TEXT, NULL, .test = tide_is_json},
    {TIDE_CONTENT_8BIT, "text in another encoding than UTF-8 (probably Latin-1)",
     "iconv -f WINDOWS-1252 -t UTF-8", NULL, NULL, .test = tide_is_8bit},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Whether a reader with this expectation has to refuse that content. */
static bool is_refused(tide_content content, tide_expected expected)
{
    switch (expected) {
    case TIDE_EXPECTED_LINES:
        return true;
    case TIDE_EXPECTED_RECORDS:
        return content != TIDE_CONTENT_RECORDS;
    case TIDE_EXPECTED_ANY:
        return content == TIDE_CONTENT_OTHER;
    default:
        return false;
    }
}

static tide_match match_kind(const tide_kind *kind, tide_head head)
{
    if (kind->test)
        return kind->test(head);
    return kind->reach
               ? starts_with_binary(head, kind->magic, kind->magic_size, kind->reach)
               : starts_with(head, kind->magic, kind->magic_size);
}

tide_detected tide_detect(tide_head head, tide_expected expected)
{
    tide_detected found = {0};
    if (head.size >= TIDE_DETECT_SIZE)
        head = (tide_head){head.bytes, TIDE_DETECT_SIZE, true};
    for (size_t i = 0; i < KINDS && head.size > 0; i++) {
        if (!is_refused(kinds[i].content, expected))
            continue;
        tide_match evidence = match_kind(&kinds[i], head);
        found.undecided |= evidence == TIDE_MAYBE;
        if (evidence == TIDE_YES) { /* an earlier kind may still turn out to match */
            found.kind = found.undecided ? NULL : &kinds[i];
            break;
        }
    }
    return found;
}

bool tide_has_suffix(const char *suffixes, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = suffixes; at && *at;) {
        size_t size = strcspn(at, " ");
        if (size < length && !strncmp(name + length - size, at, size))
            return true;
        at += size + (at[size] == ' ');
    }
    return false;
}

/* -- refusal ----------------------------------------------------------------------- */

enum { SHORT_NAME = 50 };

/* Copies the advice and replaces every @ by the name. */
static void expand_advice(char *to, size_t capacity, const char *advice,
                          const char *name)
{
    size_t used = 0;
    for (; *advice && used + 1 < capacity; advice++)
        if (*advice == '@')
            used += (size_t)snprintf(to + used, capacity - used, "%s", name);
        else
            to[used++] = *advice;
    to[used < capacity ? used : capacity - 1] = '\0';
}

int tide_detect_refuse(const tide_kind *kind, tide_head head, const char *spec,
                       tide_error *err)
{
    const char *name = strcmp(spec, "-") ? spec : "standard input";
    /* A message can hold a short name twice; a long one appears only at its start. */
    const char *again = strlen(spec) <= SHORT_NAME ? spec : "FILE";
    char advice[300] = "", fields[TIDE_JSON_FIELDS] = "";
    if (kind->command)
        return tide_fail(err, TIDE_ERROR_FORMAT,
                         "%s is %s, which cannot be read: %s %s | wordtide train -",
                         name, kind->what, kind->command, again);
    expand_advice(advice, sizeof advice, kind->advice, name == spec ? again : "FILE");
    if (kind->content != TIDE_CONTENT_RECORDS)
        return tide_fail(err, TIDE_ERROR_FORMAT, "%s is %s, not text: %s", name,
                         kind->what, advice);
    tide_json_fields(head.bytes, head.size, fields);
    return tide_fail(
        err, TIDE_ERROR_FORMAT,
        "%s is %s: name the field with the text in parameter \"text\" (fields: %s), or "
        "%s",
        name, kind->what, fields, advice);
}

/* -- public ------------------------------------------------------------------------ */

tide_content tide_content_of(const void *bytes, size_t size, bool whole,
                             tide_error *err)
{
    tide_head head = {bytes, size, whole};
    const tide_decoder_kind *decoder = tide_compression_of(bytes, size).decoder;
    const tide_kind *kind = tide_detect(head, TIDE_EXPECTED_LINES).kind;
    if (!decoder && !kind)
        return TIDE_CONTENT_TEXT;
    if (decoder)
        tide_fail(err, TIDE_ERROR_FORMAT, "%s data", decoder->name);
    else
        tide_fail(err, TIDE_ERROR_FORMAT, "%s", kind->what);
    return decoder ? TIDE_CONTENT_PACKED : kind->content;
}
