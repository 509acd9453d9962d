/* record_fields.c - the fields to extract, given by path, column name or column number.
 *
 * Text fields come first, in the order in which their values are joined; then the time
 * and the label, unless they are text fields as well. A field name of digits alone is a
 * column number. Columns given by name are resolved when the header of an input has
 * been read (record_csv.c), and reset when the input ends.
 */
#include "record/record_internal.h"

/* The column number that the field's name spells; 0 if it is not a number. */
static uint32_t parse_column_number(const tide_field *f)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < f->length; i++) {
        if (f->name[i] < '0' || f->name[i] > '9')
            return 0;
        number = number * 10 + (uint32_t)(f->name[i] - '0');
        if (number > TIDE_RECORD_MAX)
            return 0;
    }
    return number;
}

static size_t count_dots(const tide_field *f)
{
    size_t count = 0;
    for (uint32_t i = 0; i < f->length; i++)
        count += f->name[i] == '.';
    return count;
}

/* Returns the index of the field with this name, adding it if necessary, or an
 * error. */
static int add_field(tide_records *r, const char *name, size_t length, tide_error *err)
{
    while (length > 0 && *name == ' ')
        name++, length--;
    while (length > 0 && name[length - 1] == ' ')
        length--;
    int shown = length < 200 ? (int)length : 200;
    if (length == 0)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "empty field name");
    if (length > TIDE_FIELD_LENGTH_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "field name '%.*s...' is longer than %d bytes", shown, name,
                         TIDE_FIELD_LENGTH_MAX);
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].length == length &&
            memcmp(r->fields[i].name, name, length) == 0)
            return (int)i;
    if (r->field_count == TIDE_FIELDS_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "more than %d text fields",
                         TIDE_TEXT_FIELDS_MAX);
    tide_field *f = &r->fields[r->field_count];
    memcpy(f->name, name, length);
    f->length = (uint32_t)length;
    f->column_number = r->format->columns ? parse_column_number(f) : 0;
    if (!r->format->columns && count_dots(f) >= TIDE_PATH_PARTS_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "path '%.*s' has more than %d parts", shown, name,
                         TIDE_PATH_PARTS_MAX);
    r->has_header |= r->format->columns && !f->column_number;
    return (int)r->field_count++;
}

/* Copies the next name of a comma-separated list, advances *list past it and returns
 * its length. A name may be in double quotes; two quotes inside denote one. */
static size_t next_name(const char **list, char name[TIDE_FIELD_LENGTH_MAX + 2])
{
    const char *at = *list + strspn(*list, " ");
    bool quoted = *at == '"' && strchr(at + 1, '"');
    size_t size = 0;
    for (at = quoted ? at + 1 : *list; *at && (quoted || *at != ','); at++) {
        if (quoted && *at == '"' && *++at != '"') {
            at += strcspn(at, ",");
            break;
        }
        if (size <= TIDE_FIELD_LENGTH_MAX)
            name[size++] = *at;
    }
    name[size] = '\0';
    *list = at;
    return size;
}

static int add_text_fields(tide_records *r, const char *names, tide_error *err)
{
    for (;;) {
        char name[TIDE_FIELD_LENGTH_MAX + 2];
        size_t length = next_name(&names, name);
        int status = add_field(r, name, length, err);
        if (status < 0)
            return status;
        if (*names == '\0')
            break;
        names++;
    }
    r->text_fields = r->field_count;
    if (r->text_fields > TIDE_TEXT_FIELDS_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "more than %d text fields",
                         TIDE_TEXT_FIELDS_MAX);
    return TIDE_OK;
}

/* Sets *field to the index of the named field, or to -1 if `name` is NULL or empty. */
static int add_optional_field(tide_records *r, const char *name, int *field,
                              tide_error *err)
{
    *field = -1;
    if (!name || !*name)
        return TIDE_OK;
    *field = add_field(r, name, strlen(name), err);
    return *field < 0 ? *field : TIDE_OK;
}

int tide_records_set_fields(tide_records *r, const tide_record_options *options,
                            tide_error *err)
{
    int status = add_text_fields(r, options->text ? options->text : "", err);
    if (status == TIDE_OK)
        status = add_optional_field(r, options->time, &r->time_field, err);
    if (status == TIDE_OK)
        status = add_optional_field(r, options->label, &r->label_field, err);
    return status;
}

/* -- columns ----------------------------------------------------------------------- */

void tide_records_clear_header(tide_records *r)
{
    for (size_t i = 0; i < r->field_count; i++)
        r->fields[i].column = r->fields[i].column_number;
    tide_records_find_duplicates(r);
    r->separator = r->delimiter ? r->delimiter : r->format->separator;
    r->header_next = r->has_header;
}

void tide_records_find_duplicates(tide_records *r)
{
    for (size_t i = 0; i < r->text_fields; i++) {
        tide_field *f = &r->fields[i];
        f->duplicate = false;
        for (size_t k = 0; k < i; k++)
            f->duplicate |= f->column && f->column == r->fields[k].column;
    }
}
