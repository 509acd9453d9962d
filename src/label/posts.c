/* posts.c - a pool of posts of any length in fixed memory, without fragmentation.
 *
 * Everything consists of 32-byte cells, kept in one array with a free list. A post is a
 * head cell that links to a chain of text cells with its record, 28 bytes in each. Each
 * sample that contains the post has one entry cell for it, a node of the sample's heap
 * (sample.c):
 *
 *     post    | priority | number | text | refs | labels_size | size |
 *     text    | next | 28 bytes of the record |
 *     entry   | priority | post | left | right |        |
 *     free    | next |
 *
 * Any free cell serves any purpose, so the memory in use is exactly 32 bytes per cell,
 * and an allocation succeeds as long as enough cells are free. A post is stored once,
 * whatever the number of samples that contain it, and is freed with the last reference.
 */
#include "label/tracker.h"

uint32_t tide_cell_alloc(tide_posts *p)
{
    uint32_t cell = p->free;
    if (cell != TIDE_NO_CELL)
        p->free = p->cells[cell].text.next;
    else
        cell = p->fresh++;
    p->used++;
    return cell;
}

void tide_cell_free(tide_posts *p, uint32_t cell)
{
    p->cells[cell].text.next = p->free;
    p->free = cell;
    p->used--;
}

uint32_t tide_post_cells(uint32_t size)
{
    return 1 + (size + TIDE_CELL_TEXT - 1) / TIDE_CELL_TEXT;
}

uint32_t tide_post_put(tide_posts *p, uint64_t priority, uint64_t number,
                       const tide_record_text *record)
{
    uint32_t post = tide_cell_alloc(p);
    tide_cell *head = &p->cells[post];
    *head = (tide_cell){.post = {.priority = priority,
                                 .number = number,
                                 .labels_size = record->labels_size,
                                 .size = record->size}};
    uint32_t *link = &head->post.text;
    for (uint32_t at = 0; at < record->size; at += TIDE_CELL_TEXT) {
        uint32_t left = record->size - at;
        uint32_t cell = tide_cell_alloc(p);
        memcpy(p->cells[cell].text.bytes, record->bytes + at,
               left < TIDE_CELL_TEXT ? left : TIDE_CELL_TEXT);
        *link = cell;
        link = &p->cells[cell].text.next;
    }
    *link = TIDE_NO_CELL;
    p->kept++;
    return post;
}

void tide_post_record(const tide_posts *p, uint32_t post, tide_record_text *record)
{
    const tide_cell *head = &p->cells[post];
    record->labels_size = head->post.labels_size;
    record->size = head->post.size;
    uint32_t cell = head->post.text;
    for (uint32_t at = 0; at < record->size; at += TIDE_CELL_TEXT) {
        uint32_t left = record->size - at;
        memcpy(record->bytes + at, p->cells[cell].text.bytes,
               left < TIDE_CELL_TEXT ? left : TIDE_CELL_TEXT);
        cell = p->cells[cell].text.next;
    }
}

void tide_post_release(tide_posts *p, uint32_t post)
{
    if (--p->cells[post].post.refs > 0)
        return;
    uint32_t cell = p->cells[post].post.text;
    while (cell != TIDE_NO_CELL) {
        uint32_t next = p->cells[cell].text.next;
        tide_cell_free(p, cell);
        cell = next;
    }
    tide_cell_free(p, post);
    p->kept--;
}

bool tide_record_label(const tide_record_text *record, uint32_t *at, tide_word *label)
{
    if (*at >= record->labels_size)
        return false;
    label->length = (unsigned char)record->bytes[*at];
    label->bytes = record->bytes + *at + 1;
    *at += 1 + label->length;
    return true;
}
