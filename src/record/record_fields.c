/* record_fields.c - the fields that are wanted of every record, by path, name or number.
 *
 * Those with text come first, in the order in which they are joined; then the time and
 * the label, unless one of them is a field with text as well. A field of digits alone is
 * the number of a column. Columns that go by their names are found when an input has
 * given its names (record_csv.c), and forgotten when it ends.
 */
#include "record/record_internal.h"

/* The number that the name of a column is; 0 when it is not one. */
static uint32_t column_number(const tide_field *f)
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

static size_t dots(const tide_field *f)
{
    size_t count = 0;
    for (uint32_t i = 0; i < f->length; i++)
        count += f->name[i] == '.';
    return count;
}

/* The place of the field with this name, which is added if need be; negative when it
 * cannot be. */
static int add_field(tide_records *r, const char *name, size_t length, tide_error *err)
{
    while (length > 0 && *name == ' ')
        name++, length--;
    while (length > 0 && name[length - 1] == ' ')
        length--;
    int shown = length < 200 ? (int)length : 200;
    if (length == 0)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "a field without a name");
    if (length > TIDE_FIELD_LENGTH_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "field '%.*s...' has more than %d bytes", shown, name,
                         TIDE_FIELD_LENGTH_MAX);
    for (size_t i = 0; i < r->field_count; i++)
        if (r->fields[i].length == length &&
            memcmp(r->fields[i].name, name, length) == 0)
            return (int)i;
    if (r->field_count == TIDE_FIELDS_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "more than %d fields with text",
                         TIDE_TEXT_FIELDS_MAX);
    tide_field *f = &r->fields[r->field_count];
    memcpy(f->name, name, length);
    f->length = (uint32_t)length;
    f->number = r->format->columns ? column_number(f) : 0;
    if (!r->format->columns && dots(f) >= TIDE_PATH_PARTS_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "path '%.*s' has more than %d parts", shown, name,
                         TIDE_PATH_PARTS_MAX);
    r->has_names |= r->format->columns && !f->number;
    return (int)r->field_count++;
}

/* Takes the next name of a list out of it: up to a comma, or in double quotes, of which two within
 * stand for one. Returns its length. */
static size_t take_name(const char **list, char name[TIDE_FIELD_LENGTH_MAX + 2])
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
        size_t length = take_name(&names, name);
        int status = add_field(r, name, length, err);
        if (status < 0)
            return status;
        if (*names == '\0')
            break;
        names++;
    }
    r->text_fields = r->field_count;
    if (r->text_fields > TIDE_TEXT_FIELDS_MAX)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "more than %d fields with text",
                         TIDE_TEXT_FIELDS_MAX);
    return TIDE_OK;
}

/* A field that may be left out: -1 then. */
static int add_other_field(tide_records *r, const char *name, int *field,
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
        status = add_other_field(r, options->time, &r->time_field, err);
    if (status == TIDE_OK)
        status = add_other_field(r, options->label, &r->label_field, err);
    return status;
}

/* -- columns ------------------------------------------------------------------------ */

void tide_records_clear_header(tide_records *r)
{
    for (size_t i = 0; i < r->field_count; i++)
        r->fields[i].column = r->fields[i].number;
    tide_records_find_duplicates(r);
    r->separator = r->delimiter ? r->delimiter : r->format->separator;
    r->names_next = r->has_names;
}

void tide_records_find_duplicates(tide_records *r)
{
    for (size_t i = 0; i < r->text_fields; i++) {
        tide_field *f = &r->fields[i];
        f->repeats = false;
        for (size_t k = 0; k < i; k++)
            f->repeats |= f->column && f->column == r->fields[k].column;
    }
}
